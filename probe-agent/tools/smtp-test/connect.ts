import { failed, ok, refused, type Failed, type Outcome } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address } from "#probe-agent/port/address.ts";
import type { SmtpLink } from "#probe-agent/port/smtp.ts";

type Attempt = ResultOf<typeof smtpTest>["attempts"][number];

/** Connection to the first host that accepted it. */
interface Connected {
  readonly host: string;
  readonly address: Address;
  readonly link: SmtpLink;
  readonly attempts: readonly Attempt[];
  /** Whether addresses were skipped because the rules on targets forbid them. */
  readonly hasBlocked: boolean;
}

const MAX_HOSTS = 5;
const MAX_ADDRESSES = 3;
/** Time limit of one attempt, in milliseconds. The last attempts get the remaining time. */
const ATTEMPT_MS = 6_000;
/** Time reserved for the conversation, in milliseconds. */
const TALK_MS = 6_000;
/** Failure reasons of outgoing connections that a network blocks. */
const SILENT = new Set(["timeout", "unreachable", "prohibited"]);

/** Connects to the first address that accepts, trying hosts and their addresses in order (RFC 5321 section 5.1). */
export async function connectFirst(net: Net, hosts: readonly string[], port: number): Promise<Outcome<Connected>> {
  const attempts: Attempt[] = [];
  let failure: Failed | null = null;
  let hasBlocked = false;
  const isTimeLeft = (): boolean => net.remainingMs() > TALK_MS;
  for (const host of hosts.slice(0, MAX_HOSTS)) {
    if (attempts.length > 0 && !isTimeLeft()) break;
    const resolved = await net.dns.resolve(host);
    if (resolved.status !== "ok") {
      const reason = resolved.status === "failed" ? resolved.reason : "target_not_allowed";
      attempts.push({ host, ip: null, result: reason });
      if (resolved.status === "failed") failure ??= resolved;
      continue;
    }
    hasBlocked ||= resolved.data.blocked.length > 0;
    for (const address of resolved.data.allowed.slice(0, MAX_ADDRESSES)) {
      if (attempts.some(({ ip }) => ip !== null) && !isTimeLeft()) break;
      const timeoutMs = Math.min(ATTEMPT_MS, Math.max(net.remainingMs() - TALK_MS, 1_000));
      const opened = await net.smtp.connect({ ip: address.ip, port, timeoutMs });
      const result =
        opened.status === "ok" ? "connected" : opened.status === "failed" ? opened.reason : "target_not_allowed";
      attempts.push({ host, ip: address.ip, result });
      if (opened.status === "ok") return ok({ host, address, link: opened.data, attempts, hasBlocked });
      // A failed connection is more informative than a name that could not be resolved.
      if (opened.status === "failed" && failure?.stage !== "connect") failure = opened;
    }
  }
  return failure === null ? refused : withHint(failure, attempts, port);
}

/** Adds a hint to failures on port 25: many networks block outgoing mail, and then the server is not at fault. */
function withHint(failure: Failed, attempts: readonly Attempt[], port: number): Failed {
  const tried = attempts.filter(({ ip }) => ip !== null);
  if (port !== 25 || tried.length === 0 || !tried.every(({ result }) => SILENT.has(result))) return failure;
  const hint = "many networks block outgoing port 25, possibly also the network of this probe";
  return failed(failure.stage, failure.source, failure.reason, `${failure.message}; ${hint}`);
}
