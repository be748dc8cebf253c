//! Connections: bounded in number and in time.

use super::{App, router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// The most bytes of a request's line and headers.
const HEADERS: usize = 16 << 10;
/// The time that open requests have to end once the server stops.
const DRAIN: Duration = Duration::from_secs(4);
/// The time in which the rest of a refused body is read.
const LINGER: Duration = Duration::from_secs(2);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\
content-type: application/json\r\ncontent-length: 75\r\n\r\n\
{\"error\":{\"code\":\"busy\",\"message\":\"too many connections are open\",\"at\":\"\"}}";

/// Answers requests until `stop` is ready, then those that are open.
pub async fn serve(listener: TcpListener, app: App, stop: impl Future<Output = ()>) {
    let most = app.limits.connections;
    let connections = Arc::new(Semaphore::new(most));
    let idle = Duration::from_secs(app.limits.idle_seconds);
    let service = TowerToHyperService::new(router(app));
    // Every connection sees that the sender is gone.
    let (open, stopping) = watch::channel(());
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        // Too many open files, for example: wait for one to be closed.
        let Ok((mut stream, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = connections.clone().try_acquire_owned() else {
            refuse(&mut stream).await;
            continue;
        };
        _ = stream.set_nodelay(true);
        let (service, mut stopping) = (service.clone(), stopping.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(idle)
                .max_buf_size(HEADERS)
                .serve_connection(TokioIo::new(&mut stream), service);
            let mut connection = pin!(connection);
            // Errors are the client's: it went away, or was too slow.
            tokio::select! {
                _ = connection.as_mut() => {}
                _ = stopping.changed() => {
                    connection.as_mut().graceful_shutdown();
                    _ = connection.await;
                }
            }
            // A client whose connection has timed out sees its end at once.
            _ = stream.shutdown().await;
            // A socket that is closed with unread bytes is reset, and the client would lose the
            // answer to a request whose body is refused before its end.
            let mut nowhere = sink();
            tokio::select! {
                _ = tokio::time::timeout(LINGER, copy(&mut stream, &mut nowhere)) => {}
                _ = stopping.changed() => {}
            }
            drop(permit);
        });
    }
    drop((listener, open));
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    _ = tokio::time::timeout(DRAIN, connections.acquire_many(all)).await;
}

async fn refuse(stream: &mut TcpStream) {
    _ = tokio::time::timeout(Duration::from_millis(20), stream.write_all(FULL)).await;
}
