import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls, createSecureContext, getCACertificates, type SecureContext } from "node:tls";

/** Time for a connection, with TLS, ms. */
const connectMs = 10_000;

/** A host that has vanished without a word is found by TCP probes after this, ms: a tunnel may be idle for hours. */
const keepAliveMs = 30_000;

/** How long one address is tried before the next one is tried as well, ms. */
const staggerMs = 300;

const whenOpen = async (
  socket: Socket,
  event: "connect" | "secureConnect",
  signal: AbortSignal | undefined,
): Promise<Socket> => {
  const late = AbortSignal.timeout(connectMs);
  // A TLS socket that has refused a certificate may fail once more, when its caller has left. An open one has an owner
  // who listens.
  socket.on("error", () => undefined);
  try {
    await once(socket, event, { signal: signal ? AbortSignal.any([late, signal]) : late });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};

/** Opens a TCP connection to an address. Rejects after 10 s. */
export const dial = (address: string, port: number, signal?: AbortSignal): Promise<Socket> =>
  whenOpen(
    connect({ host: address, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs }),
    "connect",
    signal,
  );

/** The public authorities and those of this PEM bundle. To make it takes longer than a connection, so make it once. */
export const trusting = (caBundle: string | undefined): SecureContext | undefined =>
  caBundle === undefined ? undefined : createSecureContext({ ca: [...getCACertificates(), caBundle] });

/**
 * Opens a TLS connection to an address, whose certificate must be that of `host`. `trusted`: left out, the public
 * authorities.
 */
export const dialTls = async (
  { address, host, port }: { address: string; host: string; port: number },
  trusted: SecureContext | undefined,
  signal?: AbortSignal,
): Promise<Socket> => {
  const socket = await dial(address, port, signal);
  return whenOpen(
    connectTls({
      socket,
      ...(host === address ? {} : { servername: host }),
      host,
      ...(trusted && { secureContext: trusted }),
    }),
    "secureConnect",
    signal,
  );
};

/**
 * Opens a connection to one of these addresses: each is tried when those before it have failed or are slow, and the
 * first that answers wins. Rejects with the error of the first address when none does.
 */
export const dialFirst = async (
  addresses: string[],
  open: (address: string, signal: AbortSignal) => Promise<Socket>,
): Promise<Socket> => {
  const over = new AbortController();
  let turn: Promise<unknown> = Promise.resolve();
  const attempts = addresses.map((address) => {
    const begin = turn;
    const attempt = begin.then(() => {
      over.signal.throwIfAborted();
      return open(address, over.signal);
    });
    const slow = begin.then(() => sleep(staggerMs, undefined, { signal: over.signal }));
    turn = Promise.race([attempt, slow]).catch(() => undefined);
    slow.catch(() => undefined);
    return attempt;
  });
  try {
    const winner = await Promise.any(attempts);
    for (const attempt of attempts)
      attempt.then((socket) => (socket === winner ? undefined : socket.destroy())).catch(() => undefined);
    return winner;
  } catch (error) {
    throw error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  } finally {
    over.abort();
  }
};
