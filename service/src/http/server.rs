//! Connections: bounded in number and in time.

use super::{App, router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The most bytes of a request's line and headers.
const HEADERS: usize = 16 << 10;
/// The time that open requests have to end once the server stops.
const DRAIN: Duration = Duration::from_secs(4);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\
content-type: application/json\r\ncontent-length: 75\r\n\r\n\
{\"error\":{\"code\":\"busy\",\"message\":\"too many connections are open\",\"at\":\"\"}}";

/// Answers requests until `stop` is ready, then those that are open.
pub async fn serve(listener: TcpListener, app: App, stop: impl Future<Output = ()>) {
    let connections = Arc::new(Semaphore::new(app.limits.connections));
    let idle = Duration::from_secs(app.limits.idle_seconds);
    let service = TowerToHyperService::new(router(app));
    let graceful = GracefulShutdown::new();
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
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(idle)
            .max_buf_size(HEADERS)
            .serve_connection(TokioIo::new(stream), service.clone());
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Errors are the client's: it went away, or was too slow.
            _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
}

async fn refuse(stream: &mut TcpStream) {
    _ = tokio::time::timeout(Duration::from_millis(20), stream.write_all(FULL)).await;
}
