import { connect } from "node:tls";
import type { Failed } from "#shared/outcome.ts";
import { dial, type DialLimits } from "#probe-agent/net/http/dial.ts";
import { protocolOf, quotedStart } from "#probe-agent/net/http/other-protocol.ts";
import type { Address } from "#probe-agent/port/address.ts";
import { Tap } from "#probe-agent/net/tls/tap.ts";

/** Maximum wait for the repeated answer, in milliseconds. */
const LOOK_MS = 1500;

/**
 * Adds the protocol of the port to the message of a failure `not_tls`. Node does not expose the octets that OpenSSL
 * rejects, so this connects to the same address again through a tap. Returns the failure unchanged if no octets arrive.
 */
export async function withProtocolName(
  failure: Failed,
  to: Address,
  port: number,
  limits: DialLimits,
): Promise<Failed> {
  const dialed = await dial([to], port, limits);
  if (dialed.status !== "ok") return failure;
  const tap = new Tap(dialed.data.socket);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LOOK_MS);
  const settle = (): void => resolve();
  limits.signal.addEventListener("abort", settle, { once: true });
  tap.on("error", settle);
  const tls = connect({ socket: tap, rejectUnauthorized: false }, settle);
  tls.on("error", settle).once("close", settle);
  if (!limits.signal.aborted) await promise;
  clearTimeout(timer);
  limits.signal.removeEventListener("abort", settle);
  const start = Buffer.from(tap.received().subarray(0, 80)).toString("latin1");
  tls.destroy();
  tap.destroy();
  if (start === "") return failure;
  const name = protocolOf(start);
  const words = `${name === null ? "" : ` but ${name}`}, it answers ${quotedStart(start)}`;
  return { ...failure, message: `${failure.message}${words}` };
}
