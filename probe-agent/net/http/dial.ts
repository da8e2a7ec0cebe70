import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { failed, ok, refused, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import type { Address, ConnectAttempt } from "#probe-agent/port/address.ts";
import { connectFailure, DeadlineError } from "#probe-agent/net/http/failure.ts";

/** Limits of the connection attempts. */
export interface DialLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** On the monotonic clock, in milliseconds. */
  readonly deadline: number;
  /** Checks the peer's address once connected; null for an operator's own service. */
  readonly egress: Egress | null;
}

/** An open TCP connection. */
export interface Dialed {
  readonly socket: Socket;
  readonly address: Address;
  /** All addresses that were tried, in order. The last one is the connection's. */
  readonly attempts: readonly ConnectAttempt[];
}

/** Maximum number of addresses tried of one host. */
const MAX_ATTEMPTS = 6;
/** Maximum wait for an address that does not answer while others are left, in milliseconds. */
const SILENCE_MS = 4000;

/**
 * Connects to the first address that answers. Tries them one by one in the given order. An address that does not answer
 * uses its share of the remaining time, and the last one uses all of it. Fails with the first failure whose source is
 * the target.
 */
export async function dial(addresses: readonly Address[], port: number, limits: DialLimits): Promise<Outcome<Dialed>> {
  const tried = addresses.slice(0, MAX_ATTEMPTS);
  const attempts: ConnectAttempt[] = [];
  let failure: Failed | null = null;
  for (const [index, address] of tried.entries()) {
    if (limits.signal.aborted) return failure ?? connectFailure(new DeadlineError(), address.ip, false);
    const left = limits.deadline - limits.clock.monotonic();
    const others = tried.length - index - 1;
    const patience = others === 0 ? null : Math.min(SILENCE_MS, left / (others + 1));
    const startedAt = limits.clock.monotonic();
    const outcome = await connectTo(address, port, patience, limits);
    if (outcome.status !== "ok" && outcome.status !== "failed") return outcome;
    const isFailed = outcome.status === "failed";
    attempts.push({ address, failure: isFailed ? outcome : null, ms: limits.clock.monotonic() - startedAt });
    if (!isFailed) return ok({ socket: outcome.data, address, attempts });
    if (failure === null || (failure.source === "probe" && outcome.source !== "probe")) failure = outcome;
  }
  return failure ?? failed("connect", "target", "unreachable", "the host has no address to connect to");
}

/** Connects to one address. `patience` is its share of the time in milliseconds; null means all of the time. */
export async function connectTo(
  address: Address,
  port: number,
  patience: number | null,
  limits: DialLimits,
): Promise<Outcome<Socket>> {
  const where = `${address.version === 6 ? `[${address.ip}]` : address.ip}:${port}`;
  const { signal } = limits;
  // The kernel's own refusal (no route) arrives before the next turn of the event loop, an answer of the network later.
  let hasTurned = false;
  const turn = setImmediate(() => {
    hasTurned = true;
  });
  const socket = connect({ host: address.ip, port, family: address.version, noDelay: true });
  socket.on("error", ignore); // for the life of the socket: a late error without a listener would end the process
  const giveUp = () => socket.destroy(new DeadlineError());
  const timer = patience === null ? undefined : setTimeout(giveUp, patience);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    await once(socket, "connect");
    return vet(socket, address, limits.egress);
  } catch (error) {
    return connectFailure(error, where, !hasTurned);
  } finally {
    clearImmediate(turn);
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}

function ignore(): void {}

/** Refuses a peer whose address the rules do not allow. */
function vet(socket: Socket, address: Address, egress: Egress | null): Outcome<Socket> {
  const peer = socket.remoteAddress;
  if (peer === undefined) {
    socket.destroy();
    return connectFailure({ code: "ECONNRESET" }, address.ip, false);
  }
  if (egress !== null && !egress.allowsAddress(peer)) {
    socket.destroy();
    return refused;
  }
  return ok(socket);
}
