//! Hands complete lists to receivers, once or twice through the log.

use super::{Input, Reader};
use crate::error::{Error, ErrorKind};
use crate::hand_over::{Handing, Sink, Sinks};
use crate::lists::{ReadLists, ReceiveLists, ShownList};
use crate::names::{Ids, lock, unlocked};
use std::sync::Mutex;

/// A receiver, and where it goes after its last list.
struct Receiver<'a, R> {
    receiver: R,
    done: &'a Mutex<Vec<R>>,
}

impl<R: ReceiveLists> Sink for Receiver<'_, R> {
    fn list(&mut self, list: &ShownList<'_>) {
        self.receiver.list(list);
    }

    fn finish(self: Box<Self>) {
        lock(self.done).push(self.receiver);
    }
}

/// The receivers of all threads.
struct Receivers<F, R> {
    make: F,
    done: Mutex<Vec<R>>,
}

impl<R: ReceiveLists, F: Fn() -> R + Sync> Sinks for Receivers<F, R> {
    fn sink(&self) -> Box<dyn Sink + '_> {
        Box::new(Receiver { receiver: (self.make)(), done: &self.done })
    }
}

impl Reader {
    /// Hands every list of a log, with its user and propensities, to one of several receivers.
    /// `receiver` makes one for each thread; which lists a receiver gets depends on the threads.
    ///
    /// A list whose lines stand together is handed over at once, and only 8 bytes of it are kept.
    /// If lines of a list stand apart, `inputs` is called a second time, with 1 in place of 0: the
    /// log is then read again, with new receivers and with these lists in memory until its end. So
    /// it is if the log leaves a position out: users do not have it, and the positions of the lists
    /// that are handed over are the places among those that the log shows.
    ///
    /// # Errors
    ///
    /// As [`read_files`](Self::read_files), and those of `inputs`; faults of propensities and
    /// users. [`ErrorKind::Settings`] if positions are limited ([`positions`](Self::positions)),
    /// since propensities are of whole lists.
    ///
    /// # Examples
    ///
    /// ```
    /// use log_reader::{Format, Ids, Input, Reader, ReceiveLists, ShownList};
    ///
    /// /// Clicks, each divided by the propensity of its list.
    /// struct Clicks(f64);
    ///
    /// impl ReceiveLists for Clicks {
    ///     fn list(&mut self, list: &ShownList<'_>) {
    ///         self.0 += f64::from(list.clicks.count_ones()) / list.list_propensity.unwrap();
    ///     }
    /// }
    ///
    /// let log = "visit,user,item,rank,click,p\n1,ann,a,1,1,0.5\n1,ann,b,2,0,0.5\n2,bob,b,1,1,0.25\n";
    /// let columns = "item=item,position=rank,click=click,session=visit,user=user,list-propensity=p";
    /// let reader = Reader::new(Format::delimited(columns)?);
    /// let inputs = |_| Ok(vec![Input::stream("log.csv", log.as_bytes())]);
    /// let lists = reader.read_lists(Ids::new(), inputs, || Clicks(0.0))?;
    /// let sum: f64 = lists.receivers.iter().map(|clicks| clicks.0).sum();
    /// assert_eq!((sum, lists.report.sessions), (6.0, 2));
    /// # Ok::<(), log_reader::Error>(())
    /// ```
    pub fn read_lists<'i, R: ReceiveLists, E: From<Error>>(
        &self,
        ids: Ids,
        mut inputs: impl FnMut(usize) -> Result<Vec<Input<'i>>, E>,
        receiver: impl Fn() -> R + Sync,
    ) -> Result<ReadLists<R>, E> {
        if self.meaning.n_positions != u64::MAX {
            let message = "positions cannot be limited: propensities are of whole lists";
            return Err(Error::of(ErrorKind::Settings, "", message).into());
        }
        let (mut ids, mut held, mut positions) = (ids, None, None);
        let mut pass = 0;
        loop {
            let receivers = Receivers { make: &receiver, done: Mutex::default() };
            let collector = self.collector(ids).handing(Handing::new(&receivers, held, positions));
            let (report, logged) = self.format.read(self, inputs(pass)?, &collector)?;
            held = collector.handing.as_ref().and_then(|lists| lists.to_hold(collector.hash));
            let found = collector.handing.as_ref().and_then(Handing::new_positions);
            if held.is_some() || found.is_some() {
                positions = positions.or(found);
                (ids, pass) = (collector.ids, pass + 1);
                continue;
            }
            let log = self.keep_sessions.then(|| collector.finish(self.threads, report.clone()));
            return Ok(ReadLists {
                log: log.transpose()?,
                receivers: unlocked(receivers.done),
                logged,
                report,
            });
        }
    }
}
