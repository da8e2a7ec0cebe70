import { sortFindings } from "#shared/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";
import {
  authMechanisms,
  hostNameIn,
  readCapabilities,
  sizeLimit,
  type Capabilities,
} from "#probe-agent/analysis/mail/smtp/capabilities.ts";
import { MAX_TRANSCRIPT, type Conversation } from "#probe-agent/analysis/mail/smtp/conversation.ts";
import { describeDane, type TlsaSeen } from "#probe-agent/analysis/mail/smtp/dane.ts";
import { adviseOn } from "#probe-agent/analysis/mail/remarks.ts";
import { SMTP_GUIDE } from "#probe-agent/analysis/mail/smtp/findings.ts";
import { remarkOnSmtp } from "#probe-agent/analysis/mail/smtp/smtp-remarks.ts";
import type { SmtpReply } from "#probe-agent/port/smtp.ts";
import { serverSoftware } from "#probe-agent/analysis/mail/smtp/software.ts";
import { describeSmtpTls, type TlsTrust } from "#probe-agent/analysis/mail/smtp/tls.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";

type Result = ResultOf<typeof smtpTest>;
/** The part of the result that follows from the conversation and the names around it. */
type SmtpReport = Omit<
  Result,
  | "target"
  | "mx_used"
  | "mx_records"
  | "attempts"
  | "ip"
  | "ip_version"
  | "port"
  | "source"
  | "observed_at"
  | "elapsed_ms"
>;

/** What the report is made from. */
interface SmtpFacts {
  readonly conversation: Conversation;
  readonly connectMs: number;
  readonly totalMs: number;
  readonly port: number;
  readonly trust: TlsTrust;
  /** As asked for: the mail domain, or the host itself. */
  readonly target: string;
  /** Null where there is no name to ask for. */
  readonly tlsa: TlsaSeen | null;
  readonly ptr: {
    readonly hostname: string | null;
    readonly exists: boolean | null;
    readonly fcrdns: boolean | null;
  } | null;
}

/** Octets of JSON the long parts may take; a reply may have 64 KB, of which a result holds several. */
const TRANSCRIPT_BYTES = 60_000;
const LINES_BYTES = 16_000;
const MAX_TEXT = 1_000;

/** Tells what a conversation showed. */
export function smtpReport(facts: SmtpFacts): SmtpReport {
  const { conversation, connectMs, totalMs, port, target, trust, tlsa, ptr } = facts;
  const { session, implicit, timings, transcript } = conversation;
  const { replies } = session;
  const banner = replies.banner === undefined ? null : bannerRow(replies.banner);
  const first = welcomed(replies.ehlo);
  const again = welcomed(replies.ehlo_secured);
  const [inClear, underTls] = implicit ? [null, first] : [first, again];
  const latest = underTls ?? inClear;
  const helloName = first?.hostname ?? null;
  const time = (ms: number | undefined): number | null => (ms === undefined ? null : toMicroseconds(ms));
  const report = {
    implicit_tls: implicit,
    banner,
    ehlo: ehloRow(replies.ehlo),
    ehlo_tls: ehloRow(replies.ehlo_secured),
    helo_only: first === null && replies.helo?.code === 250,
    starttls: startTlsRow(conversation, first, trust),
    pipelining: latest === null ? null : latest.extensions.has("PIPELINING"),
    size_limit_bytes: latest === null ? null : sizeLimit(latest.extensions),
    auth_mechanisms: [
      ...new Set([first, again].flatMap((said) => (said === null ? [] : authMechanisms(said.extensions)))),
    ],
    auth_before_tls: inClear === null ? null : inClear.extensions.has("AUTH"),
    ptr: ptr?.hostname ?? null,
    has_ptr: ptr?.exists ?? null,
    fcrdns: ptr?.fcrdns ?? null,
    ptr_match: isSameName(ptr?.hostname ?? null, [banner?.hostname ?? null, helloName]),
    dane: tlsa === null ? null : describeDane(tlsa, { ...trust, target, sent: certificatesOf(conversation) }),
    open_relay: null,
    timings_ms: {
      connect: toMicroseconds(connectMs),
      banner: time(timings.banner),
      ehlo: time(timings.ehlo),
      starttls: time(timings.starttls),
      ehlo_tls: time(timings.ehlo_secured),
      total: toMicroseconds(totalMs),
    },
    transcript: leading(transcript, TRANSCRIPT_BYTES),
  };
  const spkiSha256 = report.starttls.tls?.certificate?.spki_sha256 ?? null;
  const context = { host: trust.host, port, spkiSha256 };
  return {
    ...report,
    findings: sortFindings(adviseOn(SMTP_GUIDE, remarkOnSmtp(report, { port, host: trust.host }), context)),
    limitations: limitationsOf(conversation, ptr),
  };
}

/** An answer to EHLO that is one. */
function welcomed(reply: SmtpReply | undefined): Capabilities | null {
  return reply === undefined || reply.code !== 250 ? null : readCapabilities(reply);
}

function bannerRow({ code, lines, faults }: SmtpReply): NonNullable<Result["banner"]> {
  const text = printable(lines.join(" "), MAX_TEXT);
  return {
    code,
    text,
    lines: leading(lines, LINES_BYTES),
    hostname: hostNameIn(lines[0] ?? ""),
    esmtp: /\bESMTP\b/i.test(text),
    software: serverSoftware(text),
    faults: [...faults],
  };
}

function ehloRow(reply: SmtpReply | undefined): Result["ehlo"] {
  if (reply === undefined) return null;
  const { greeting, hostname, extensions } = readCapabilities(reply);
  const isWelcome = reply.code === 250;
  return {
    code: reply.code,
    greeting,
    hostname: isWelcome ? hostname : null,
    extensions: isWelcome ? Object.fromEntries(leading([...extensions], LINES_BYTES)) : {},
    faults: [...reply.faults],
  };
}

function startTlsRow(
  { session, implicit, tls }: Conversation,
  first: Capabilities | null,
  trust: TlsTrust,
): Result["starttls"] {
  const reply = session.replies.starttls;
  const outcome = tls?.outcome ?? null;
  const observation = outcome?.status === "ok" ? outcome.data : null;
  const failure =
    outcome?.status === "failed"
      ? { reason: outcome.reason, message: outcome.message }
      : observation?.error === null || observation === null
        ? null
        : { ...observation.error };
  const refusal = reply !== undefined && reply.code !== 220 ? false : null;
  return {
    offered: first === null ? null : first.extensions.has("STARTTLS"),
    success: implicit ? null : outcome === null ? refusal : failure === null,
    code: reply?.code ?? null,
    text: reply === undefined ? null : printable(reply.lines.join(" "), MAX_TEXT),
    failure,
    plaintext_after_reply: tls?.plaintext ?? null,
    tls: observation === null ? null : describeSmtpTls(observation, trust),
  };
}

function certificatesOf({ tls }: Conversation): readonly Uint8Array[] {
  return tls?.outcome.status === "ok" ? tls.outcome.data.sent : [];
}

function isSameName(ptr: string | null, names: readonly (string | null)[]): boolean | null {
  const known = names.filter((name) => name !== null);
  if (ptr === null || known.length === 0) return null;
  return known.includes(ptr.toLowerCase().replace(/\.$/, ""));
}

const WAITED_FOR: Readonly<Record<string, string>> = {
  banner: "the greeting",
  ehlo: "EHLO",
  helo: "HELO",
  starttls: "STARTTLS",
  ehlo_secured: "EHLO under TLS",
};

function limitationsOf({ loss, transcript }: Conversation, ptr: SmtpFacts["ptr"]): string[] {
  const waited = loss === null ? undefined : WAITED_FOR[loss.phase];
  return [
    "Whether the server is an open relay was not tested: no mail is ever sent.",
    ...(loss === null || waited === undefined
      ? []
      : [`No answer to ${waited} (${loss.loss}): what would have come after it is not known.`]),
    ...(ptr === null ? ["The reverse name was not found out in time."] : []),
    ...(ptr !== null && ptr.exists === null ? ["The reverse name of the address could not be looked up."] : []),
    ...(leading(transcript, TRANSCRIPT_BYTES).length < transcript.length || transcript.length >= MAX_TRANSCRIPT
      ? ["The transcript is cut."]
      : []),
  ];
}
