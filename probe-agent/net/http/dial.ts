import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Clock } from "#shared/clock.ts";
import type { Egress } from "#shared/egress.ts";
import { failed, ok, refused, type Failed, type Outcome } from "#shared/outcome.ts";
import type { Address, ConnectAttempt } from "#probe-agent/port/address.ts";
import { connectFailure, DeadlineError } from "#probe-agent/net/http/failure.ts";

/** What bounds the attempts. */
export interface DialLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** On the monotonic clock, milliseconds. */
  readonly deadline: number;
  /** Asked about the peer's address once connected; null for an operator's own service. */
  readonly egress: Egress | null;
}

/** A standing TCP connection. */
export interface Dialed {
  readonly socket: Socket;
  readonly address: Address;
  /** Every address tried, in order; the last one is the connection's. */
  readonly attempts: readonly ConnectAttempt[];
}

/** Addresses of one host tried at most. */
const MAX_ATTEMPTS = 6;
/** Longest wait for an address that is silent while others are left. */
const SILENCE_MS = 4000;

/**
 * Connects to the first address that answers, one after the other in the given order. A silent one uses up its
 * share of the time left, the last one all of it. failed: the first failure that is the target's own.
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

/** One connection to one address; `patience` is its own share of the time, milliseconds, null: all there is. */
export async function connectTo(
  address: Address,
  port: number,
  patience: number | null,
  limits: DialLimits,
): Promise<Outcome<Socket>> {
  const where = `${address.version === 6 ? `[${address.ip}]` : address.ip}:${port}`;
  const { signal } = limits;
  // The kernel's own refusal (no route) comes before the loop has turned, an answer of the network after.
  let hasTurned = false;
  const turn = setImmediate(() => {
    hasTurned = true;
  });
  const socket = connect({ host: address.ip, port, family: address.version, noDelay: true });
  socket.on("error", ignore); // for the socket's life: a late error must find a listener
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

/** The peer must be an address the rules allow, whatever was asked for. */
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
