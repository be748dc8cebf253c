// Opens pages in headless Chromium and checks them, in both themes and at two widths.
//
//     node check.mjs [--pictures DIR] PAGE.html ..
//
// Every page: no console message, no request beyond the page itself, no violation that axe finds, no scrolling sideways at 375 px, letters of
// figures at least 11 px there, no markup from labels, whole without scripts, on a large screen no number behind a scroll bar and no
// label out of its figure. Every chart that has controls: each of them is used. The
// screenshots in DIR are for people.

import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = { wide: 1240, narrow: 375 };
const LARGE = 1920;
const SMALLEST = 11;

// Called by the name of their folder.
const pages = process.argv.slice(2);
let pictures = null;
if (pages[0] === "--pictures") [, pictures] = pages.splice(0, 2);
if (pictures) await mkdir(pictures, { recursive: true });

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"],
});
const faults = [];
let checked = 0;

/** Opens a file, and collects what the browser says about it. */
async function open(file, { theme, width, scripts = true }) {
  const page = await browser.newPage();
  const heard = [];
  page.on("console", (message) => heard.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (request.url() !== pathToFileURL(file).href) heard.push(`request: ${request.url().slice(0, 80)}`);
  });
  page.on("dialog", async (dialog) => {
    heard.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await page.setJavaScriptEnabled(scripts);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await page.setViewport({ width, height: 900 });
  await page.goto(pathToFileURL(file).href);
  return { page, heard };
}

/** What axe finds, one line for each element. */
async function violations(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.flatMap((rule) =>
    rule.nodes.slice(0, 3).map((node) => `axe ${rule.id}: ${node.html.slice(0, 120)} (${rule.nodes.length} in all)`),
  );
}

/** What does not fit a narrow screen. */
async function tooSmall(page) {
  return page.evaluate((smallest) => {
    const found = [];
    const wide = document.documentElement.scrollWidth;
    if (wide > window.innerWidth) found.push(`the page is ${wide} px wide on a screen of ${window.innerWidth} px`);
    for (const text of document.querySelectorAll("svg text")) {
      if (text.getBoundingClientRect().width === 0) continue;
      const scale = Math.abs(text.getScreenCTM().a) || Math.abs(text.getScreenCTM().b);
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (size < smallest - 0.05) found.push(`${size.toFixed(1)} px: "${text.textContent.trim().slice(0, 40)}"`);
    }
    return found.slice(0, 5);
  }, SMALLEST);
}

/** What a large screen does not show: columns of tables, and letters beyond the edge of a figure. */
async function hidden(page) {
  return page.evaluate(() => {
    const found = [];
    for (const table of document.querySelectorAll(".scroll")) {
      const words = table.textContent.trim().slice(0, 40).replaceAll(/\s+/g, " ");
      if (table.scrollWidth > table.clientWidth) found.push(`a table of ${table.scrollWidth} px in ${table.clientWidth}: ${words}`);
    }
    for (const text of document.querySelectorAll("figure svg text")) {
      const [own, all] = [text, text.closest("svg")].map((element) => element.getBoundingClientRect());
      const out = Math.max(own.right - all.right, all.left - own.left, own.bottom - all.bottom, all.top - own.top);
      if (own.width > 0 && out > 1) found.push(`${out.toFixed(0)} px out of its figure: ${text.textContent.trim().slice(0, 40)}`);
    }
    return found.slice(0, 5);
  });
}

/** Elements that only a label could have brought in. */
async function injected(page) {
  return page.evaluate(() => {
    const found = [...document.querySelectorAll("img, iframe, object, embed, link, base, form, [onclick], [onerror], [onload]")];
    const scripts = [...document.querySelectorAll("script")].filter((script) => script.src);
    const own = found.concat(scripts).map((element) => `injected: ${element.outerHTML.slice(0, 120)}`);
    return window.injected ? own.concat("injected: a script of a label ran") : own;
  });
}

/** Uses every control of every chart, and says what had no effect. */
async function controls(page) {
  const found = [];
  const charts = await page.$$("figure:has(svg .curve[data-label])");
  for (const [number, chart] of charts.entries()) {
    const fault = (what) => found.push(`chart ${number + 1}: ${what}`);
    const drawn = () => chart.evaluate((element) => element.querySelector("svg").innerHTML);
    const buttons = await chart.$$("button");
    if (buttons.length === 0) fault("no button");
    for (const button of buttons) {
      const name = await button.evaluate((element) => element.textContent.trim() || element.ariaLabel);
      if (!name) fault("a button without a name");
      if (!(await button.evaluate((element) => element.checkVisibility()))) continue;
      const words = () => chart.$$eval("svg text", (all) => all.map((text) => text.textContent.trim()).filter(Boolean).sort().join("|"));
      const before = await words();
      await button.focus();
      const states = [];
      for (let times = 1; times <= 4; times += 1) {
        await page.keyboard.press("Enter");
        states.push(await drawn());
      }
      if (states[0] === states[1]) fault(`"${name}" changes nothing`);
      if (states[0] !== states[2] || states[1] !== states[3]) fault(`"${name}" has more than two states`);
      const after = await words();
      if (after !== before) fault(`"${name}" pressed twice does not restore the words: ${before} became ${after}`);
    }
    const plot = await chart.$("svg[data-plot]");
    if (!plot) {
      fault("nothing to read points from");
      continue;
    }
    await plot.evaluate((element) => element.focus());
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    const told = () => chart.evaluate((element) => element.querySelector("[aria-live]")?.textContent.trim());
    const first = await told();
    if (!/\d/.test(first ?? "")) fault(`the arrow keys tell nothing: ${JSON.stringify(first)}`);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowUp");
    if ((await told()) === first) fault("another point is told in the same words");
  }
  return { found, count: charts.length };
}

for (const file of pages.map((page) => path.resolve(page))) {
  const name = path.basename(path.dirname(file));
  let charts = 0;
  for (const theme of ["light", "dark"]) {
    for (const [screen, width] of Object.entries(WIDTHS)) {
      const { page, heard } = await open(file, { theme, width });
      const found = [...(await violations(page)), ...(await injected(page))];
      if (screen === "narrow") found.push(...(await tooSmall(page)));
      if (pictures) {
        const picture = `${name.replaceAll(/[^a-z0-9-]+/gi, "_")}-${theme}-${screen}.png`;
        await page.screenshot({ path: path.join(pictures, picture), fullPage: true });
      }
      if (theme === "light") {
        const used = await controls(page);
        charts = used.count;
        found.push(...used.found, ...(await violations(page)).map((line) => `after use: ${line}`));
      }
      faults.push(...[...heard, ...found].map((line) => `${name}, ${theme}, ${screen}: ${line}`));
      await page.close();
    }
  }
  const { page, heard } = await open(file, { theme: "dark", width: WIDTHS.wide, scripts: false });
  await page.setViewport({ width: LARGE, height: 900 });
  heard.push(...(await hidden(page)));
  const figures = (page) => page.$$eval("figure svg", (all) => all.filter((one) => one.checkVisibility()).length);
  const buttons = await page.$$eval("button", (all) => all.filter((one) => one.checkVisibility()).length);
  if (buttons > 0) heard.push(`${buttons} buttons that need scripts`);
  if ((await page.$$("figure")).length > 0 && (await figures(page)) === 0) heard.push("no figure");
  if (pictures) {
    await page.emulateMediaType("print");
    const ink = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    if (!/^rgba?\((255, 255, 255|0, 0, 0, 0)/.test(ink)) heard.push(`prints on ${ink}`);
    await page.pdf({ path: path.join(pictures, `${name.replaceAll(/[^a-z0-9-]+/gi, "_")}.pdf`), format: "A4" });
  }
  faults.push(...heard.map((line) => `${name}, without scripts: ${line}`));
  await page.close();
  checked += 1;
  console.log(`${name}: ${charts} charts with controls`);
}
await browser.close();
for (const fault of faults) console.error(fault);
console.log(`${checked} pages checked, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);
