import { sortFindings } from "#shared/contracts/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test/contract.ts";
import {
  authMechanisms,
  parseHostName,
  readCapabilities,
  sizeLimit,
  type Capabilities,
} from "#probe-agent/tools/smtp-test/capabilities.ts";
import { MAX_TRANSCRIPT, type Conversation } from "#probe-agent/tools/smtp-test/conversation.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import { SMTP_ADVICE } from "#probe-agent/tools/smtp-test/advice.ts";
import type { ServerReport } from "#probe-agent/tools/smtp-test/draft.ts";
import { smtpFindings, describeSmtpTls, type TlsTrust } from "#probe-agent/tools/smtp-test/findings.ts";
import type { SmtpReply } from "#probe-agent/port/smtp.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { parseCertificate, type Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { satisfiesTlsa, type Tlsa } from "#probe-agent/analysis/tls/certificate/tlsa.ts";
import { MAX_TLSA, tlsaRow } from "#probe-agent/analysis/mail/tlsa.ts";

type Result = ResultOf<typeof smtpTest>;
/** The fields of the result that depend on the conversation, the reverse name and the TLSA records. */
type SmtpReport = ServerReport & Pick<Result, "limitations" | "findings">;

/** Facts that the report is made from. */
interface SmtpFacts {
  readonly conversation: Conversation;
  readonly connectMs: number;
  readonly totalMs: number;
  readonly port: number;
  readonly trust: TlsTrust;
  /** The requested target: the mail domain, or the host itself. */
  readonly target: string;
  /** null if the server has no name to look up. */
  readonly tlsa: PublishedTlsa | null;
  /** Reverse name of the address; null if the lookup did not end in time. */
  readonly ptr: {
    readonly hostname: string | null;
    readonly exists: boolean | null;
    readonly fcrdns: boolean | null;
  } | null;
}

/**
 * Maximum number of octets of JSON of the long parts. One reply can have 64 KB, and a result contains several replies.
 */
const TRANSCRIPT_BYTES = 60_000;
const LINES_BYTES = 16_000;
const MAX_TEXT = 1_000;

/** Words in greetings that identify the mail server software. */
const SOFTWARE: readonly (readonly [RegExp, string])[] = [
  [/\bPostfix\b/i, "Postfix"],
  [/\bExim\b/i, "Exim"],
  [/\bSendmail\b/i, "Sendmail"],
  [/\bMicrosoft ESMTP MAIL Service\b/i, "Microsoft Exchange"],
  [/\bgsmtp\b/i, "Google"],
  [/\bOpenSMTPD\b/i, "OpenSMTPD"],
  [/\bHaraka\b/i, "Haraka"],
  [/\bStalwart\b/i, "Stalwart"],
  [/\bMailEnable\b/i, "MailEnable"],
  [/\bMDaemon\b/i, "MDaemon"],
  [/\bZimbra\b/i, "Zimbra"],
  [/\bKerio\b/i, "Kerio Connect"],
  [/\bhMailServer\b/i, "hMailServer"],
  [/\bDomino\b/i, "HCL Domino"],
  [/\bPowerMTA\b/i, "PowerMTA"],
  [/\bqmail\b/i, "qmail"],
  [/\bJAMES\b/, "Apache James"],
];

/** Makes the report on a conversation. */
export function smtpReport(facts: SmtpFacts): SmtpReport {
  const { conversation, connectMs, totalMs, port, target, trust, tlsa, ptr } = facts;
  const { session, implicit, timings, transcript } = conversation;
  const { replies } = session;
  const banner = replies.banner === undefined ? null : bannerRow(replies.banner);
  const first = readAccepted(replies.ehlo);
  const again = readAccepted(replies.ehlo_secured);
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
      ...new Set([first, again].flatMap((offer) => (offer === null ? [] : authMechanisms(offer.extensions)))),
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
    findings: sortFindings(adviseOn(SMTP_ADVICE, smtpFindings(report, { port, host: trust.host }), context)),
    limitations: limitationsOf(conversation, ptr),
  };
}

/** Returns the capabilities from a reply to EHLO; null if the server refused or did not reply. */
function readAccepted(reply: SmtpReply | undefined): Capabilities | null {
  return reply === undefined || reply.code !== 250 ? null : readCapabilities(reply);
}

function bannerRow({ code, lines, faults }: SmtpReply): NonNullable<Result["banner"]> {
  const text = printable(lines.join(" "), MAX_TEXT);
  return {
    code,
    text,
    lines: leading(lines, LINES_BYTES),
    hostname: parseHostName(lines[0] ?? ""),
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
    "The check does not test for an open relay, because it never sends mail.",
    ...(loss === null || waited === undefined
      ? []
      : [`No answer to ${waited} (${loss.loss}): the rest of the conversation is unknown.`]),
    ...(ptr === null ? ["The reverse name of the address was not found in time."] : []),
    ...(ptr !== null && ptr.exists === null ? ["The reverse name of the address could not be looked up."] : []),
    ...(leading(transcript, TRANSCRIPT_BYTES).length < transcript.length || transcript.length >= MAX_TRANSCRIPT
      ? ["The transcript is cut."]
      : []),
  ];
}

/** Returns the software that a greeting names; null if it names none. */
function serverSoftware(greeting: string): string | null {
  return SOFTWARE.find(([pattern]) => pattern.test(greeting))?.[1] ?? null;
}

/** DANE of the tested server in a result. */
type ServerDane = NonNullable<ResultOf<typeof smtpTest>["dane"]>;

/** TLSA records of the server's port with the status of their DNSSEC signatures. */
interface PublishedTlsa {
  readonly status: ServerDane["status"];
  readonly reason: string | null;
  readonly records: readonly Tlsa[];
}

/** Chain and names that the TLSA records are compared with. */
interface DaneTerms extends TlsTrust {
  /** DER certificates in the order the server sent them; empty if it sent none. */
  readonly sent: readonly Uint8Array[];
  /** Mail domain whose MX names the host. A DANE-TA certificate can be for this name (RFC 7672 section 3.2.2). */
  readonly target: string;
}

/** Maximum number of certificates of a chain that are read. Servers send fewer than ten. */
const MAX_CERTIFICATES = 20;

/**
 * Compares the server's chain with the TLSA records of its port, as a sender that uses DANE does (RFC 7672 section
 * 2.2).
 */
function describeDane({ status, reason, records }: PublishedTlsa, terms: DaneTerms): ServerDane {
  const isMet = createMatcher(terms);
  const rows = records.slice(0, MAX_TLSA).map((record) => ({ ...tlsaRow(record), matches: isMet?.(record) ?? null }));
  const usable = rows.filter((row) => row.usable);
  const holds =
    status === "secure" && isMet !== null && usable.length > 0 ? usable.some(({ matches }) => matches === true) : null;
  return { status, reason, records: rows, valid: status === "bogus" ? false : holds };
}

/** Returns a function that compares a TLSA record with the chain; null if the server sent no certificate. */
function createMatcher({ sent, host, target, roots, now }: DaneTerms): ((record: Tlsa) => boolean) | null {
  const [first, ...rest] = sent.slice(0, MAX_CERTIFICATES);
  const leaf = first === undefined ? null : parseCertificate(first);
  if (leaf === null) return null;
  const others = parseDistinct(rest);
  const intermediates = others.map(({ der }) => der);
  const names = [...new Set([host, target])].map((name) => ({
    host: name,
    verification: verifyChain({ leaf: leaf.der, intermediates, roots, host: name, now }),
  }));
  return (record) => names.some((name) => satisfiesTlsa(record, { leaf, others, now, ...name }));
}

function parseDistinct(ders: readonly Uint8Array[]): Certificate[] {
  const once = new Map(ders.map((der) => [Buffer.from(der).toString("base64"), der]));
  return [...once.values()].flatMap((der) => parseCertificate(der) ?? []);
}
