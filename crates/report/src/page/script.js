// Controls for the charts of a page: scales, curves switched on and off, and a read-out of points. Values, axes and ticks are in the
// pictures, as data- attributes. Text enters the page through textContent only. Without this script the page is whole.
"use strict";
for (const svg of document.querySelectorAll("svg[data-plot]")) {
  const numbers = (text) => text.split(" ").map(Number);
  const lines = (text) => (text ? text.split("\n") : []);
  const make = (tag, parent, properties) => parent.appendChild(Object.assign(document.createElement(tag), properties));
  const makeSvg = (tag, parent, attributes) => {
    const element = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return parent.appendChild(element);
  };
  const shown = (value) => value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
  const whole = (value) => (Number.isInteger(value) ? value.toLocaleString("en-US") : shown(value));

  // The drawing: the curves, and the wide and the narrow drawing.
  const points = (text) => (text ? text.split(" ").map((point) => point.split(":").map(Number)) : []);
  const curves = [...svg.querySelectorAll(".curve[data-label]")].map((group) => ({
    index: group.dataset.curve,
    label: group.dataset.label,
    ink: [...group.classList].find((name) => name !== "curve"),
    points: points(group.dataset.points),
    dots: points(group.dataset.dots),
    isOn: true,
  }));
  const categories = lines(svg.dataset.categories);
  const drawings = [...svg.querySelectorAll("[data-frame]")];
  if (!curves.some((curve) => curve.points.length || curve.dots.length)) continue;

  // The scale of each axis that is drawn now, and those that it has.
  const scale = { x: drawings[0].dataset.x, y: drawings[0].dataset.y };
  const first = { ...scale };
  const attribute = (axis, kind, end = "") => `data-${axis}-${kind}${end}`;
  const has = (axis, kind) => drawings[0].hasAttribute(attribute(axis, kind));
  const range = (drawing, axis) => {
    const [from, to, ...ticks] = drawing.getAttribute(attribute(axis, scale[axis])).split(" ");
    const tick = (text) => [Number(text.slice(0, text.indexOf(":"))), text.slice(text.indexOf(":") + 1)];
    return { from: Number(from), to: Number(to), ticks: ticks.map(tick) };
  };

  // Places in a drawing. Values that a logarithmic axis does not have are null.
  const placing = (drawing) => {
    const [left, top, right, bottom] = numbers(drawing.dataset.frame);
    const share = (axis) => {
      const { from, to } = range(drawing, axis);
      if (scale[axis] !== "log") return (value) => (value - from) / (to - from);
      return (value) => (value > 0 ? Math.log(value / from) / Math.log(to / from) : null);
    };
    const [x, y] = [share("x"), share("y")];
    const at = ([a, b]) => {
      const [across, up] = [x(a), y(b)];
      return across === null || up === null ? null : [left + across * (right - left), bottom - up * (bottom - top)];
    };
    return { left, top, right, bottom, at };
  };
  const written = (value) => Math.round(10 * value) / 10;
  const path = (places) => "M" + places.map(([x, y]) => `${written(x)} ${written(y)}`).join("L");
  const inside = (frame, [x, y]) => [x, Math.min(frame.bottom, Math.max(frame.top, y))];

  // The pieces of a line inside the frame: it leaves at the top and, on another scale, at the bottom.
  const pieces = (frame, places) => {
    const cut = (a, b, edge) => [a[0] + ((b[0] - a[0]) * (edge - a[1])) / (b[1] - a[1]), edge];
    let d = "";
    let last = null;
    for (let index = 1; index < places.length; index += 1) {
      let [a, b] = [places[index - 1], places[index]];
      const out = (edge, sign) => [sign * (a[1] - edge) > 0.05, sign * (b[1] - edge) > 0.05];
      let isSeen = true;
      for (const [edge, sign] of [[frame.top, -1], [frame.bottom, 1]]) {
        const [isOutA, isOutB] = out(edge, sign);
        if (isOutA && isOutB) isSeen = false;
        else if (isOutA) a = cut(a, b, edge);
        else if (isOutB) b = cut(a, b, edge);
      }
      if (!isSeen) continue;
      d += a === last ? path([b]).replace("M", "L") : path([a, b]);
      last = b;
    }
    return d;
  };

  // The markers of a curve: evenly spaced along the line, or at every point of categories and fits.
  const markers = (frame, curve, places, count) => {
    if (curve.dots.length) return curve.dots.map(frame.at).filter(Boolean);
    if (categories.length || places.length < 2) return places;
    const [begin, end] = [places[0][0], places[places.length - 1][0]];
    const shift = (Number(curve.index) + 0.5) / curves.length;
    return Array.from({ length: count }, (_, number) => {
      const x = begin + ((number + shift) / count) * (end - begin);
      const after = Math.max(1, places.findIndex((place) => place[0] >= x));
      const [[x0, y0], [x1, y1]] = [places[after - 1], places[after]];
      return [x, x1 > x0 ? y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) : y1];
    });
  };

  const drawTicks = (drawing, frame, axis) => {
    const group = drawing.querySelector(`.${axis}-ticks`);
    if (!group) return;
    group.replaceChildren();
    const font = Number(drawing.dataset.tick);
    for (const [value, label] of range(drawing, axis).ticks) {
      const other = range(drawing, axis === "x" ? "y" : "x").to;
      const [x, y] = frame.at(axis === "x" ? [value, other] : [other, value]);
      const d = axis === "x" ? `M${written(x)} ${frame.top}V${frame.bottom}` : `M${frame.left} ${written(y)}H${frame.right}`;
      makeSvg("path", group, { class: label ? "grid" : "faint", d, fill: "none", stroke: "currentColor", "stroke-width": 0.8 });
      const at = axis === "x" ? [x, frame.bottom + 5 + font] : [frame.left - 8, y + 0.35 * font];
      const anchor = axis === "x" ? "middle" : "end";
      const text = { x: written(at[0]), y: written(at[1]), "font-size": font, fill: "currentColor", "text-anchor": anchor };
      makeSvg("text", group, text).textContent = label;
    }
  };

  const drawWords = (drawing, axis) => {
    const words = lines(drawing.getAttribute(attribute(axis, scale[axis], "-words")));
    drawing.querySelectorAll(`.${axis}-words`).forEach((text, number) => { text.textContent = words[number] ?? ""; });
  };

  const drawCurve = (drawing, frame, curve) => {
    const of = (part) => drawing.querySelectorAll(`[data-curve="${curve.index}"] ${part}`);
    const places = curve.points.map(frame.at).filter(Boolean);
    // A curve of zeros is not on a logarithmic axis.
    for (const line of of(".line")) line.setAttribute("d", places.length > 1 ? pieces(frame, places) : "");
    const spots = markers(frame, curve, places, 6);
    of(".marker").forEach((marker, number) => {
      const spot = spots[number];
      const isSeen = spot && spot[1] >= frame.top - 1 && spot[1] <= frame.bottom + 1;
      marker.toggleAttribute("hidden", !isSeen);
      if (isSeen) marker.setAttribute("transform", `translate(${written(spot[0])} ${written(spot[1])})`);
    });
    // The lower end of a band may be below a logarithmic axis.
    const ends = curve.points.filter((point) => point.length > 2 && frame.at([point[0], point[3]]));
    const end = (x, value) => inside(frame, frame.at([x, value]) ?? [frame.at([x, range(drawing, "y").to])[0], frame.bottom]);
    const [high, low] = [ends.map(([x, , , value]) => end(x, value)), ends.map(([x, , value]) => end(x, value))];
    for (const band of of(".band")) band.setAttribute("d", ends.length > 1 ? `${path([...high, ...[...low].reverse()])}Z` : "");
    const cap = ([x, y]) => path([[x - 3.5, y], [x + 3.5, y]]);
    const bar = (_, number) => path([low[number], high[number]]) + cap(low[number]) + cap(high[number]);
    for (const bars of of(".bars")) bars.setAttribute("d", ends.map(bar).join(""));
  };

  // The labels beside a frame follow the ends of their curves, from the top down and then, where there is no room, back up.
  const drawLabels = (drawing, frame) => {
    const labels = [...drawing.querySelectorAll(".label:has(.leader)")].map((label) => {
      const leader = label.querySelector(".leader");
      leader.dataset.home ??= leader.getAttribute("d");
      const home = leader.dataset.home;
      const { points: [...all], dots } = curves.find((curve) => curve.index === label.dataset.curve);
      const last = frame.at(all.pop() ?? dots[dots.length - 1]) ?? [frame.right, frame.bottom];
      const half = 8 * label.querySelectorAll("text").length + 2;
      return { label, leader, home, half, end: inside(frame, last)[1], at: Number(home.slice(home.lastIndexOf(" "))) };
    });
    let edge = frame.top;
    for (const one of labels) {
      one.centre = Math.max(one.end, edge + one.half);
      edge = one.centre + one.half;
    }
    edge = frame.bottom;
    for (const one of labels.reverse()) {
      one.centre = Math.min(one.centre, edge - one.half);
      edge = one.centre - one.half;
      const shift = scale.y === first.y ? 0 : written(one.centre - one.at);
      one.label.setAttribute("transform", `translate(0 ${shift})`);
      const begin = path([[frame.right + 3, one.end - shift]]) + one.home.slice(one.home.indexOf("L"));
      one.leader.setAttribute("d", shift === 0 ? one.home : begin);
    }
  };

  const draw = () => {
    for (const drawing of drawings) {
      const frame = placing(drawing);
      for (const axis of ["x", "y"]) {
        drawTicks(drawing, frame, axis);
        drawWords(drawing, axis);
      }
      for (const curve of curves) drawCurve(drawing, frame, curve);
      drawLabels(drawing, frame);
    }
  };

  // The controls, below the picture.
  const controls = document.createElement("div");
  controls.className = "plot-controls";
  svg.after(controls);
  const title = svg.getAttribute("aria-label");
  const group = (name, parent = controls) => {
    const row = make("div", parent, {});
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", `${name}: ${title}`);
    return row;
  };
  const button = (row, text, isOn, press) => {
    const made = make("button", row, { type: "button" });
    make("span", made, { textContent: text });
    made.setAttribute("aria-pressed", isOn);
    made.addEventListener("click", press);
    return made;
  };
  const scaled = ["x", "y"].filter((axis) => has(axis, "linear") && has(axis, "log"));
  if (scaled.length) {
    const row = group("Scales");
    for (const axis of scaled) {
      const name = axis === "x" ? "horizontal" : "vertical";
      button(row, `Logarithmic ${name} axis`, scale[axis] === "log", (event) => {
        scale[axis] = scale[axis] === "log" ? "linear" : "log";
        event.currentTarget.setAttribute("aria-pressed", scale[axis] === "log");
        draw();
        point();
      });
    }
  }
  if (curves.length > 1) {
    // Many buttons are folded.
    const parent = curves.length > 8 ? make("details", controls, {}) : controls;
    if (parent !== controls) make("summary", parent, { textContent: `Choose among ${curves.length} curves` });
    if (parent !== controls) {
      // So are many labels below a narrow drawing.
      const labels = button(group("Labels"), "Labels in the picture", true, () => {
        labels.setAttribute("aria-pressed", !svg.classList.toggle("folded"));
      });
      labels.parentElement.classList.add("folds");
    }
    const row = group("Curves shown", parent);
    for (const curve of curves) {
      const made = button(row, curve.label, true, () => {
        curve.isOn = !curve.isOn;
        made.setAttribute("aria-pressed", curve.isOn);
        const parts = svg.querySelectorAll(`[data-curve="${curve.index}"]`);
        for (const part of parts) part.toggleAttribute("hidden", !curve.isOn);
        point();
      });
      const swatch = document.createElement("i");
      swatch.style.color = `var(--plot-${curve.ink})`;
      made.prepend(swatch);
    }
  }
  const readOut = make("p", controls, { className: "plot-point" });
  readOut.setAttribute("aria-live", "polite");
  const hint = "Point at the chart, or focus it and use the arrow keys, to read values.";
  readOut.textContent = hint;

  // The point that is read: a curve, and the number of one of its points.
  let chosen = null;
  const values = (curve) => (curve.dots.length ? curve.dots : curve.points);
  const rings = drawings.map((drawing) =>
    makeSvg("circle", drawing, { r: 7, fill: "none", stroke: "currentColor", "stroke-width": 2, class: "ink", hidden: "" }));
  const point = () => {
    if (chosen && !chosen.curve.isOn) chosen = null;
    const value = chosen && values(chosen.curve)[chosen.number];
    drawings.forEach((drawing, number) => {
      const frame = placing(drawing);
      const place = value && frame.at(value);
      const isSeen = place && place[1] >= frame.top - 1 && place[1] <= frame.bottom + 1;
      rings[number].toggleAttribute("hidden", !isSeen);
      if (isSeen) for (const [name, at] of [["cx", place[0]], ["cy", place[1]]]) rings[number].setAttribute(name, written(at));
    });
    if (!value) {
      readOut.textContent = hint;
      return;
    }
    const [x, y, low, high] = value;
    const name = svg.dataset.xName ? `${svg.dataset.xName} = ` : "";
    const place = categories.length ? categories[Math.round(x)] : whole(x);
    const band = low === undefined ? "" : `, band ${shown(low)} to ${shown(high)}`;
    const quantity = svg.dataset.yName ? `${svg.dataset.yName} ` : "";
    const text = `${chosen.curve.label}; ${name}${place}: ${quantity}${shown(y)}${band}`;
    if (readOut.textContent !== text) readOut.textContent = text;
  };

  // With the pointer: the nearest point that is drawn.
  const choose = (event) => {
    const drawing = drawings.find((one) => getComputedStyle(one).display !== "none");
    const matrix = drawing?.getScreenCTM();
    if (!matrix) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const frame = placing(drawing);
    let nearest = Infinity;
    for (const curve of curves.filter((one) => one.isOn)) {
      values(curve).forEach((value, number) => {
        const place = frame.at(value);
        // A policy is preferred to a bound beside it.
        const handicap = curve.ink === "reference" ? 12 : 0;
        const distance = place ? Math.hypot(place[0] - x, place[1] - y) + handicap : Infinity;
        if (distance < nearest) [nearest, chosen] = [distance, { curve, number }];
      });
    }
    point();
  };
  svg.addEventListener("pointermove", choose);
  svg.addEventListener("pointerdown", choose);

  // With the keyboard: left and right over the points of a curve, up and down to the next curve above and below.
  svg.setAttribute("tabindex", 0);
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-label", `${title}. Arrow keys left and right read the points of a curve, up and down go to the next curve.`);
  svg.addEventListener("keydown", (event) => {
    const on = curves.filter((curve) => curve.isOn && values(curve).length);
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0], Home: [0, -1e9], End: [0, 1e9] };
    const step = steps[event.key];
    if (!step || !on.length || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (!chosen) {
      const curve = on.find((one) => one.ink !== "reference") ?? on[0];
      chosen = { curve, number: values(curve).length - 1 };
    } else if (step[1]) {
      chosen.number = Math.min(values(chosen.curve).length - 1, Math.max(0, chosen.number + step[1]));
    } else {
      // Each curve at the same place, or at the nearest one that it has.
      const x = values(chosen.curve)[chosen.number][0];
      const closer = (all) => (best, value, number) => (Math.abs(value[0] - x) < Math.abs(all[best][0] - x) ? number : best);
      const beside = on.map((curve) => ({ curve, number: values(curve).reduce(closer(values(curve)), 0) }));
      beside.sort((a, b) => values(a.curve)[a.number][1] - values(b.curve)[b.number][1]);
      const place = beside.findIndex((one) => one.curve === chosen.curve) + step[0];
      chosen = beside[Math.min(beside.length - 1, Math.max(0, place))];
    }
    point();
  });
}
