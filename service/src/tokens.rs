//! Who may do what: tokens with roles, from a file.

use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use subtle::ConstantTimeEq as _;

/// The roles that a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Ask for lists and answer them.
    Decide = 1,
    /// Change the catalogue.
    Manage = 2,
    /// See the page, the table, the log and the metrics.
    Read = 4,
}

/// Hashes of tokens, and the roles of each. Without tokens, everything is allowed.
#[derive(Debug, Clone, Default)]
pub struct Tokens(Vec<([u8; 32], u8)>);

/// The queries that each token has made in the present minute.
#[derive(Debug, Default)]
pub struct Made(Mutex<(u64, HashMap<u64, u64>)>);

impl Made {
    /// Does work that may make queries, at most this number a minute for each token.
    pub(crate) fn by<T>(
        &self,
        (token, most): (u64, u64),
        time: u64,
        work: impl FnOnce(u64) -> (T, u64),
    ) -> T {
        let mut made = crate::lock(&self.0);
        let minute = time / 60_000;
        if made.0 != minute {
            *made = (minute, HashMap::new());
        }
        let used = made.1.entry(token).or_default();
        let (done, new) = work(most.saturating_sub(*used));
        *used += new;
        done
    }
}

/// The shortest token, in bytes.
const SHORTEST: usize = 16;

impl Tokens {
    /// Reads a file: a token and its roles in each line, such as `TOKEN decide,read`.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads the text of a file. Errors name lines, and no tokens.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let (token, roles) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            if token.len() < SHORTEST {
                return Err(format!("line {line}: a token has at least {SHORTEST} bytes"));
            }
            let mut bits = 0;
            for role in roles.split(',') {
                bits |= match role.trim() {
                    "decide" => Role::Decide as u8,
                    "manage" => Role::Manage as u8,
                    "read" => Role::Read as u8,
                    other => {
                        return Err(format!(
                            "line {line}: role `{other}`, expected `decide`, `manage` or `read`"
                        ));
                    }
                };
            }
            tokens.push((Sha256::digest(token).into(), bits));
        }
        if tokens.is_empty() { Err("it has no token".into()) } else { Ok(Self(tokens)) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A number of a token, which stays when the file is read again, and whether it has a role;
    /// `None` if it is unknown. Every token is compared, in constant time.
    pub fn allow(&self, token: &[u8], role: Role) -> Option<(u64, bool)> {
        let found: [u8; 32] = Sha256::digest(token).into();
        let mut roles = None;
        for (hash, of) in &self.0 {
            if bool::from(hash.ct_eq(&found)) {
                roles = Some(roles.unwrap_or(0) | of);
            }
        }
        let number = u64::from_le_bytes(std::array::from_fn(|place| found[place]));
        roles.map(|roles| (number, roles & role as u8 != 0))
    }
}
