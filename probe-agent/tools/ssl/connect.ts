import type { Outcome } from "#shared/contracts/outcome.ts";
import type { Address, Resolved } from "#probe-agent/port/address.ts";
import type { TlsObservation, TlsRequest } from "#probe-agent/port/tls.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { inspectServer } from "#probe-agent/tools/ssl/inspect.ts";

/** Maximum number of addresses tried when connections fail. */
const MAX_ADDRESSES = 3;
/** Time limit of a handshake while another address is left. */
const ADDRESS_MS = 6000;
/** Time limit of the handshake with the last address. */
const HANDSHAKE_MS = 10_000;

type Where = Pick<TlsRequest, "port" | "servername">;

/**
 * Returns the outcome of the first address that accepts a connection, even if its handshake fails. `reserveMs` is the
 * part of the job's time that later steps need.
 */
export async function firstThatConnects(
  net: Net,
  { allowed }: Resolved,
  where: Where,
  reserveMs: number,
): Promise<{ address: Address; outcome: Outcome<TlsObservation> }> {
  const addresses = allowed.slice(0, MAX_ADDRESSES);
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    const timeoutMs = Math.min(net.remainingMs() - reserveMs, isLast ? HANDSHAKE_MS : ADDRESS_MS);
    const outcome = await inspectServer(net, { ...where, ip: address.ip, timeoutMs });
    const unconnected = outcome.status === "refused" || (outcome.status === "failed" && outcome.stage === "connect");
    if (!unconnected || isLast) return { address, outcome };
  }
  throw new Error("a resolved host has no address");
}
