import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import { type HeaderRows, readAddresses, fitLists } from "#probe-agent/tools/email-header/rows.ts";
import { MAX_HEADERS_BYTES } from "#shared/tools/email-header/limits.ts";
import { readArrival } from "#probe-agent/tools/email-header/arrival.ts";
import { readAddressList } from "#probe-agent/tools/email-header/addresses.ts";
import { findAnomalies } from "#probe-agent/tools/email-header/find-anomalies.ts";
import { readArcChain } from "#probe-agent/tools/email-header/arc.ts";
import { domainOf, summariseAuth, resultsRow, spfRow } from "#probe-agent/tools/email-header/auth-summary.ts";
import { readMailDate } from "#probe-agent/tools/email-header/date.ts";
import { decodeWords } from "#probe-agent/tools/email-header/encoded-words.ts";
import { MAX_FIELDS, readHeaderBlock, type Field } from "#probe-agent/tools/email-header/fields.ts";
import { isoOrNull, MAX_HOPS, traceHops, type Locate } from "#probe-agent/tools/email-header/received-hops.ts";
import { tokenize } from "#probe-agent/tools/email-header/lexer.ts";
import { readParameters } from "#probe-agent/tools/email-header/parameters.ts";
import { readReceivedSpf } from "#probe-agent/tools/email-header/received-spf.ts";
import { describeSignatures } from "#probe-agent/tools/email-header/signatures.ts";
import { readSpamHeaders } from "#probe-agent/tools/email-header/spam.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import { alignmentOf } from "#probe-agent/tools/email-header/domains.ts";

type Result = HeaderRows;
/** Analysis of headers. The tool adds the source and the time. */
type HeaderAnalysis = Omit<Result, "source" | "observed_at" | "elapsed_ms">;

/** Headers with the locations of their addresses from the operator's databases. */
interface PlacedHeaders {
  readonly headers: string;
  readonly now: Date;
  readonly places: ReadonlyMap<string, ReturnType<Locate>>;
}

const MAX_SUBJECT = 1500;
const MAX_LIST = 1500;
const MAX_SPF = 20;
const MAX_PARAMETERS = 30;
const NO_SPECIALS = { specials: "", literals: false };
const ID_GRAMMAR = { specials: "<>@", literals: true };

/**
 * Explains raw headers. `raw` is text or octets (decoded as UTF-8 if valid, otherwise as latin1). Input after 256 KB is
 * ignored. `locate` returns the location of a public address. Never throws. Time and the size of the result are limited
 * for every input.
 */
export function analyseHeaders(raw: string | Uint8Array, now: Date, locate: Locate = () => null): HeaderAnalysis {
  const text = typeof raw === "string" ? raw : decodeOctets(raw);
  const block = readHeaderBlock(text.slice(0, MAX_HEADERS_BYTES));
  const byKey = Map.groupBy(block.fields, ({ key }) => key);
  const valueOf = (key: string): string | null => byKey.get(key)?.[0]?.value ?? null;
  const decodedField = (key: string, max: number): string | null => {
    const value = valueOf(key);
    return value === null ? null : printableOrNull(decodeWords(value).text, max);
  };
  const received = byKey.get("received") ?? [];
  const receivedSpf = (byKey.get("received-spf") ?? []).flatMap(({ value }) => readReceivedSpf(value) ?? []);
  const dateText = valueOf("date");
  const date = dateText === null ? null : readMailDate(withoutComments(dateText));
  const { rows, fromDomain, faults } = readAddresses(byKey);
  const { auth, all } = summariseAuth(block.fields, receivedSpf);
  const verdicts = all.flatMap(({ parsed, trusted }) => (trusted ? parsed.results : []));
  const trace = traceHops(
    received.map(({ value }) => value),
    date?.time ?? null,
    locate,
  );
  const hopTimes = trace.hops.map(({ timestamp }) => (timestamp === null ? null : Date.parse(timestamp)));
  const arrival = readArrival(hopTimes.toReversed(), { mboxFrom: block.mboxFrom, date: date?.time ?? null, now });
  const signatures = describeSignatures(block.fields, verdicts, arrival);
  const returnPath = readReturnPath(valueOf("return-path"));
  const decoded = block.fields.map(({ name, value }) => ({ name, ...decodeWords(value) }));
  const result = {
    from: decodedField("from", MAX_LIST),
    to: decodedField("to", MAX_LIST),
    cc: decodedField("cc", MAX_LIST),
    subject: decodedField("subject", MAX_SUBJECT),
    date: isoOrNull(date?.time ?? null),
    message_id: readMessageId(valueOf("message-id")),
    reply_to: decodedField("reply-to", MAX_LIST),
    sender: decodedField("sender", MAX_LIST),
    return_path: returnPath,
    addresses: rows,
    content_type: readContentType(valueOf("content-type")),
    ...trace,
    arrival: { time: isoOrNull(arrival.time), source: arrival.source },
    auth,
    authentication_results: all.map(resultsRow),
    received_spf: receivedSpf.slice(0, MAX_SPF).map(spfRow),
    alignment: describeAlignment({
      fromDomain,
      bounceDomain: returnPath === "<>" ? null : domainOf(returnPath),
      auth,
      signatures,
    }),
    dkim_signatures: signatures,
    arc_chain: readArcChain(block.fields, arrival),
    list_unsubscribe: readListUnsubscribe(block.fields, signatures),
    spam_headers: readSpamHeaders(block.fields),
    headers: decoded.map((field) => ({ name: printable(field.name, 100), value: printable(field.text, MAX_SUBJECT) })),
    header_count: block.fields.length + block.omitted,
    size_bytes: typeof raw === "string" ? Buffer.byteLength(raw) : raw.length,
    line_endings: block.lineEndings,
    mbox_from: printableOrNull(block.mboxFrom),
    has_body: block.hasBody,
  };
  const malformedWords = decoded.reduce((sum, { malformed }) => sum + malformed, 0);
  const examined = { block, byKey, date, addressFaults: faults, malformedWords, result, arrival, now };
  const fitted = fitLists({ ...result, anomalies: findAnomalies(examined) });
  return {
    ...fitted.result,
    limitations: [
      "Signatures were not verified, because that needs the keys and the body. All results are those of the receiver.",
      "Registrable domains come from the public suffix list, not from the DNS tree walk of DMARC.",
      ...(isUnplaced(result.hops) ? ["The locations of the hops are unknown: this probe has no data on them."] : []),
      ...(block.omitted > 0 ? [`Only the first ${MAX_FIELDS} fields were read.`] : []),
      ...(received.length > MAX_HOPS ? [`Only the newest ${MAX_HOPS} Received fields were read.`] : []),
      ...(text.length > MAX_HEADERS_BYTES ? ["Only the first 256 KB were read."] : []),
      ...(text.includes("\uFFFD") ? ["Some octets of the input were already lost (U+FFFD)."] : []),
      ...(block.fields.length === 0 ? ["No header field was found."] : []),
      ...fitted.cut,
    ],
  };
}

/** Explains headers like `analyseHeaders`, with plain data. `places` has the addresses that `hopAddresses` returns. */
function analyseHeadersPlaced({ headers, now, places }: PlacedHeaders): HeaderAnalysis {
  return analyseHeaders(headers, now, (ip) => places.get(ip) ?? null);
}

/** The headers of a message. */
export const emailHeaderAnalysis = defineAnalysis("email-header", analyseHeadersPlaced);

/** Lists the public addresses of hops that `analyseHeaders` locates. */
function hopAddresses(headers: string): string[] {
  const { fields } = readHeaderBlock(headers.slice(0, MAX_HEADERS_BYTES));
  const received = fields.filter(({ key }) => key === "received").map(({ value }) => value);
  const addresses = new Set<string>();
  traceHops(received, null, (ip) => {
    addresses.add(ip);
    return null;
  });
  return [...addresses];
}

/** Addresses of the hosts that a message came over. */
export const hopAddressesAnalysis = defineAnalysis("email-addresses", hopAddresses);

function isUnplaced(hops: Result["hops"]): boolean {
  const known = hops.filter(({ ip_type: type }) => type === "public");
  return known.length > 0 && known.every(({ ip_geo: place }) => place === null);
}

/** Decodes octets as UTF-8, or as latin1 if they are not UTF-8: old software sends octets of an undeclared charset. */
function decodeOctets(raw: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(raw);
  } catch {
    return Buffer.from(raw).toString("latin1");
  }
}

function withoutComments(value: string): string {
  const { tokens } = tokenize(value, NO_SPECIALS);
  return tokens.flatMap(({ kind, text }) => (kind === "comment" ? [] : [text])).join(" ");
}

/** Reads the msg-id without the white space and comments that the obsolete syntax allows. */
function readMessageId(value: string | null): string | null {
  if (value === null) return null;
  const { tokens } = tokenize(value, ID_GRAMMAR);
  const close = tokens.findIndex(({ text }) => text === ">");
  const parts = (close < 0 ? tokens : tokens.slice(0, close + 1)).filter(({ kind }) => kind !== "comment");
  return printableOrNull(parts.map(({ kind, text }) => (kind === "quoted" ? `"${text}"` : text)).join(""));
}

function readReturnPath(value: string | null): string | null {
  const [mailbox] = value === null ? [] : readAddressList(value).mailboxes;
  if (mailbox === undefined) return null;
  return mailbox.address === "" ? "<>" : printable(mailbox.address);
}

function readContentType(value: string | null): Result["content_type"] {
  if (value === null) return null;
  const { value: type, parameters } = readParameters(value);
  return {
    value: printable(type),
    parameters: parameters
      .slice(0, MAX_PARAMETERS)
      .map((one) => ({ name: printable(one.name), value: printable(one.value) })),
  };
}

type Alignment = Result["alignment"];

/** Facts that decide on alignment. */
interface AlignmentFacts {
  readonly fromDomain: string | null;
  /** Domain of Return-Path, used if the receiver does not name the domain that it checked. */
  readonly bounceDomain: string | null;
  readonly auth: Result["auth"];
  readonly signatures: Result["dkim_signatures"];
}

const MAX_ROWS = 50;

/** Compares the domain of From with the authenticated domains (RFC 7489 section 3.1). */
function describeAlignment({ fromDomain, bounceDomain, auth, signatures }: AlignmentFacts): Alignment {
  const row = (domain: string | null, result: string | null): Alignment["spf"] => {
    const aligned = alignmentOf(fromDomain, domain);
    return { domain, result, strict: aligned?.strict ?? null, relaxed: aligned?.relaxed ?? null };
  };
  const spf = row(auth.spf === null ? bounceDomain : auth.spf.domain, auth.spf?.result ?? null);
  const results = auth.dkim.map(({ domain, result }) => row(domain, result));
  const dkim = results.length > 0 ? results : signatures.map(({ d }) => row(d, null));
  const isSilent = auth.spf === null && auth.dkim.length === 0;
  const proves = ({ result, relaxed }: Alignment["spf"]): boolean => result === "pass" && relaxed === true;
  return {
    from_domain: fromDomain,
    registrable_domain: registrableDomain(fromDomain),
    spf,
    dkim: dkim.slice(0, MAX_ROWS),
    aligned: isSilent || fromDomain === null ? null : [spf, ...results].some(proves),
  };
}

const MAX_URIS = 20;
const MAX_URI = 2048;
const ONE_CLICK = /^list-unsubscribe=one-click$/i;

/** Reads the ways to unsubscribe (RFC 2369 section 3.2, RFC 8058). Null without the field. */
function readListUnsubscribe(
  fields: readonly Field[],
  signatures: Result["dkim_signatures"],
): Result["list_unsubscribe"] {
  const field = fields.find(({ key }) => key === "list-unsubscribe");
  if (field === undefined) return null;
  const uris = readUris(field.value);
  const of = (scheme: string): string[] =>
    uris.flatMap((uri) => (uri.toLowerCase().startsWith(scheme) ? [printable(uri, MAX_URI)] : []));
  const [https, http, mailto] = [of("https:"), of("http:"), of("mailto:")];
  const post = fields.find(({ key }) => key === "list-unsubscribe-post");
  const asksForPost = post !== undefined && ONE_CLICK.test(post.value.replaceAll(/\s/g, ""));
  const covers = ({ h }: Result["dkim_signatures"][number]): boolean =>
    h.includes("list-unsubscribe") && h.includes("list-unsubscribe-post");
  const isSigned = post !== undefined && signatures.some(covers);
  const others = uris.length - https.length - http.length - mailto.length;
  return {
    https,
    http,
    mailto,
    one_click: asksForPost && https.length > 0,
    one_click_signed: isSigned,
    issues: [
      ...(uris.length === 0 ? ["The field has no address in angle brackets."] : []),
      ...(others > 0 ? ["Some addresses have a scheme that mail programs do not support."] : []),
      ...(post !== undefined && !asksForPost ? ["List-Unsubscribe-Post is not List-Unsubscribe=One-Click."] : []),
      ...(asksForPost && https.length === 0
        ? ["One-click unsubscription needs an https address (RFC 8058 section 3.1)."]
        : []),
      ...(asksForPost && !isSigned ? ["No DKIM signature covers both fields (RFC 8058 section 4)."] : []),
    ],
  };
}

/** Reads the texts in angle brackets. Removes white space, which comes from folding (RFC 2369 section 2). */
function readUris(value: string): string[] {
  const uris: string[] = [];
  for (let at = value.indexOf("<"); at >= 0 && uris.length < MAX_URIS; at = value.indexOf("<", at + 1)) {
    const end = value.indexOf(">", at);
    if (end < 0) break;
    uris.push(value.slice(at + 1, end).replaceAll(/\s+/g, ""));
    at = end;
  }
  return uris;
}
