import type { Redact } from "#shared/text/redact.ts";
import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import type { RevocationReport } from "#probe-agent/analysis/tls/ssl/revocation.ts";
import { readServerChain, type ServerChain } from "#probe-agent/analysis/tls/ssl/server.ts";
import { decideTrust } from "#probe-agent/analysis/tls/ssl/trust.ts";
import { atAddress } from "#probe-agent/analysis/tls/trust-fault.ts";
import type { Stream } from "#probe-agent/port/stream.ts";
import { keptRevocation } from "#probe-agent/sources/kept-revocation.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { checkRevocation } from "#probe-agent/tools/ssl/revocation.ts";

/** Where a certificate was seen. */
interface Place {
  readonly host: string;
  readonly ip: string;
  /** Number of addresses of the host. */
  readonly addresses: number;
}

/** Whether a client trusts a chain, and why not. */
interface JudgedChain {
  readonly trusted: boolean;
  readonly error: string | null;
  /** null if it is trusted. */
  readonly fault: MonitorFault | null;
}

/** Judges the chain of a server as the ssl tool does. */
export function judgeChain(
  { leaf, verification }: ServerChain,
  { host, ip, addresses }: Place,
  revocation: RevocationReport,
  now: Date,
  redact: Redact,
): JudgedChain {
  const { trusted, error, findings } = decideTrust({ leaf, host, verification, revocation, now, redact });
  if (error === null) return { trusted, error, fault: null };
  const words = findings[0]?.message ?? "the certificate is not trusted";
  return { trusted, error, fault: { stage: "tls", reason: error, message: atAddress(words, ip, addresses) } };
}

/** The certificate of a server under TLS. */
export interface ServerTrust {
  /** DER. */
  readonly certificate: Uint8Array;
  /** Protocol that the server agreed to; null: none. */
  readonly alpn: string | null;
  /** Why no client continues; null if one does, as far as is known without asking an authority. */
  readonly fault: MonitorFault | null;
  /**
   * Asks the authorities whether the certificate is revoked, at most once an hour for all checks of this agent. Call it
   * last: an authority must delay no outage. null if it is not, or that is not known.
   */
  askRevocation(): Promise<MonitorFault | null>;
}

/** Time for which a check waits for an authority, in milliseconds. */
const WAIT_MS = 3_000;
/** Part of the check's time that is kept for its answer, in milliseconds. */
const RESERVE_MS = 300;

/**
 * Starts TLS on a connection and judges the certificate as monitors of type ssl do. Fails as Stream.secure does, and with
 * malformed_certificate.
 */
export async function secureStream(net: Net, stream: Stream, alpn?: readonly string[]): Promise<Outcome<ServerTrust>> {
  const outcome = await stream.secure(alpn);
  if (outcome.status !== "ok") return outcome;
  const { sent, ocspStaple, error, alpn: agreed } = outcome.data;
  const now = net.now();
  const chain = readServerChain(sent, { host: stream.host, roots: net.tls.roots(), now });
  if (chain === null) return failed("tls", "target", "malformed_certificate", "the certificate cannot be parsed");
  const about = [...chain.verification.path.map(({ der }) => der), ...(ocspStaple === null ? [] : [ocspStaple])];
  const ask = () => checkRevocation(net, chain, ocspStaple, RESERVE_MS);
  const judge = async (waitMs: number): Promise<MonitorFault | null> =>
    judgeChain(chain, stream, await keptRevocation(about, { now, waitMs, ask }), now, stream.redact).fault;
  const fault = await judge(0);
  return ok({
    certificate: chain.leaf.der,
    alpn: agreed,
    fault: fault ?? (error === null ? null : { stage: "tls", reason: error.reason, message: error.message }),
    askRevocation: () => judge(Math.min(WAIT_MS, net.remainingMs() - RESERVE_MS)),
  });
}
