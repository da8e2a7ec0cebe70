import type { MonitorFault, MonitorPhases, MonitorResult } from "#shared/monitor-checks/define.ts";
import { answerWith, type ReportParams } from "#probe-agent/monitor-checks/answer.ts";
import type { ServerTrust } from "#probe-agent/monitor-checks/server-trust.ts";
import type { Stream } from "#probe-agent/port/stream.ts";
import type { Untimed } from "#probe-agent/tools/implement.ts";

/** What a check found over a connection. */
interface StreamFinding {
  /** null: the answer is as expected. */
  readonly fault: MonitorFault | null;
  readonly httpStatus: number | null;
  /** Milliseconds. */
  readonly responseMs: number;
  /** null: the connection has no TLS. */
  readonly trust: ServerTrust | null;
}

/**
 * Returns the result of a check over a connection. A certificate is asked about its revocation last, if all else is well.
 * The time that is neither look-up, connection nor TLS is the server's own.
 */
export async function answerOverStream(
  { timing: { dns, connect, tls } }: Stream,
  { fault: found, httpStatus, responseMs, trust }: StreamFinding,
  params: ReportParams,
): Promise<Untimed<MonitorResult>> {
  const processing_ms = Math.max(0, responseMs - dns - connect - tls);
  const phases: MonitorPhases = { redirect_ms: 0, dns_ms: dns, connect_ms: connect, tls_ms: tls, processing_ms };
  const fault = found ?? (await trust?.askRevocation()) ?? null;
  const certificate = trust?.certificate ?? null;
  return answerWith({ fault, responseMs, httpStatus, phases, certificate }, params, () => Promise.resolve(null));
}
