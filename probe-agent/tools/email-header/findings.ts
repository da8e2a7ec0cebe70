import type { Finding } from "#shared/contracts/findings.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailHeader } from "#shared/tools/email-header/contract.ts";
import { adviseOn, finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { HEADER_ADVICE } from "#probe-agent/tools/email-header/advice.ts";
import type { HeaderRows } from "#probe-agent/tools/email-header/rows.ts";
import { addAddress } from "#probe-agent/analysis/mail/spf/advice.ts";
import { publishTxt } from "#probe-agent/analysis/mail/tag-list.ts";
import { isIP } from "node:net";
import { organisationOf } from "#probe-agent/tools/email-header/received-operators.ts";

type SpfNow = NonNullable<ResultOf<typeof emailHeader>["spf_now"]>;

type Draft = FindingDraft<keyof typeof HEADER_ADVICE>;

/** Anomalies whose causes have separate findings. */
const COVERED_BY_CAUSES: ReadonlySet<Draft["id"]> = new Set<Draft["id"]>(["dkim_issues", "arc_broken"]);

/** Maximum number of findings of one kind. A header block can have a hundred signatures. */
const MAX_OF_A_KIND = 20;

/** Makes findings of the anomalies of headers and of the issues of signatures, ARC and List-Unsubscribe. */
export function headerFindings(
  rows: Pick<HeaderRows, "anomalies" | "dkim_signatures" | "arc_chain" | "list_unsubscribe">,
): Finding[] {
  const anomalies = rows.anomalies.filter(({ id }) => !COVERED_BY_CAUSES.has(id));
  const drafts = [
    ...anomalies.map(({ id, where, message, severity }) => finding(id, where, message, severity)),
    ...signatureFindings(rows).slice(0, MAX_OF_A_KIND),
    ...arcFindings(rows).slice(0, MAX_OF_A_KIND),
    ...(rows.list_unsubscribe?.issues ?? []).map((message) =>
      finding("list-unsubscribe-fault", "List-Unsubscribe", message),
    ),
  ];
  return adviseOn<Draft["id"], null>(HEADER_ADVICE, drafts, null);
}

/** Makes one finding for each signature whose issues are not covered by an anomaly. */
function signatureFindings({ dkim_signatures: signatures }: Pick<HeaderRows, "dkim_signatures">): Draft[] {
  return signatures.flatMap(({ d, s, other_issues: others }, index) => {
    const message = `The signature of ${d ?? "no domain"} (selector ${s ?? "none"}): ${others.join(" ")}`;
    return others.length === 0 ? [] : [finding("dkim-signature-fault", `DKIM-Signature ${index + 1}`, message)];
  });
}

function arcFindings({ arc_chain: chain }: Pick<HeaderRows, "arc_chain">): Draft[] {
  if (chain === null) return [];
  const sets = chain.sets.filter(({ issues }) => issues.length > 0);
  return [
    ...chain.issues.map((message) => finding("arc_broken", "ARC-Seal", message)),
    ...sets.map(({ i, issues }) => finding("arc-set-fault", `ARC set ${i}`, issues.join(" "))),
  ];
}

/**
 * Compares today's SPF result with the headers. There is no finding if they agree, or if the headers have none and SPF
 * does not refuse the host today.
 */
export function spfNowFindings(now: SpfNow | null): Finding[] {
  if (now === null || now.result === "temperror") return [];
  const { result, claimed, ip, domain, record, agrees, reason } = now;
  const isRefused = result === "fail" || result === "permerror";
  if (agrees === true || (claimed === null && !isRefused && result !== "softfail")) return [];
  const because = reason === null ? "" : ` (${reason})`;
  const today = `Today's SPF result for ${ip} and ${domain} is ${result}${because}`;
  const message =
    claimed === null
      ? `${today}; the headers give no SPF result.`
      : `${today}; the result in the headers is ${claimed}.`;
  const draft = finding(claimed === null ? "spf-not-passed-today" : "spf-changed", "spf_now", message);
  // Mail of a host that passed then and fails now does not arrive. In the other direction nothing breaks.
  const isWorse = result !== "pass" && (claimed === null || claimed.toLowerCase() === "pass");
  const advised: Draft = isWorse
    ? { ...draft, severity: "warning", how: allowHost(domain, record, ip, result) }
    : draft;
  return adviseOn(HEADER_ADVICE, [advised], null);
}

function allowHost(domain: string, record: string | null, ip: string, result: SpfNow["result"]): string {
  if (result === "permerror") return `Correct the SPF record of ${domain}; email-check lists its faults.`;
  const text = addAddress(record ?? "v=spf1 ~all", ip);
  return `If ${ip} still sends mail for ${domain}: ${publishTxt(domain, text)}. Otherwise no change is needed.`;
}

/** Delivery of a message to the receiver's organization, with the data that SPF needs. */
interface Delivery {
  readonly ip: string;
  /** Number n of the hop. */
  readonly hop: number;
  /** Envelope sender. Empty for bounces. */
  readonly mailFrom: string;
  readonly helo: string | null;
}

/** Result fields that the delivery is found in. */
export type DeliveryRows = Pick<HeaderRows, "hops" | "auth" | "return_path" | "received_spf">;
type Hop = HeaderRows["hops"][number];

/**
 * Finds the hop where the message entered the receiver's organization, and its envelope sender, or the reason why they
 * are unknown. The address in the receiver's own SPF result has priority. Without it, hops inside the organization
 * (with a private client, or a client with a name of the organization) are skipped from the newest to the oldest. The
 * client chooses its HELO name, so that name counts only if the receiver recorded no reverse name.
 */
export function findDelivery(rows: DeliveryRows): Delivery | { readonly unknown: string } {
  const hop = findEntryHop(rows);
  if (hop?.ip === undefined || hop.ip === null) {
    return { unknown: "the headers name no public address that delivered the message" };
  }
  const mailFrom = envelopeSender(rows, hop);
  if (mailFrom === null) return { unknown: "the headers do not name the envelope sender (Return-Path)" };
  if (mailFrom === "" && heloOf(hop) === null) {
    return { unknown: "the envelope sender is empty and the headers name no HELO" };
  }
  return { ip: hop.ip, hop: hop.n, mailFrom, helo: heloOf(hop) };
}

function findEntryHop({ hops, auth, received_spf: received }: DeliveryRows): Hop | undefined {
  const newestFirst = hops.toReversed();
  const isPublic = ({ ip, ip_type: type }: Hop): boolean => ip !== null && type === "public";
  const checked = auth.spf?.ip ?? received[0]?.client_ip ?? null;
  const named =
    checked === null ? undefined : newestFirst.find((hop) => isPublic(hop) && isSameAddress(hop.ip, checked));
  if (named !== undefined) return named;
  const receiver =
    (auth.confirmed === true ? organisationOf(auth.authserv_id) : null) ??
    newestFirst.map(({ by }) => organisationOf(by)).find((organisation) => organisation !== null) ??
    null;
  return newestFirst.find((hop) => isPublic(hop) && !isFetched(hop) && !isInternal(hop, receiver));
}

function isInternal({ by, rdns, from }: Hop, receiver: string | null): boolean {
  if (receiver === null || (organisationOf(by) ?? receiver) !== receiver) return false;
  return organisationOf(rdns ?? from) === receiver;
}

/** Reports whether a hop fetched the message by IMAP or POP. Then the client address is the server of the mailbox. */
function isFetched(hop: Hop): boolean {
  return /^(?:imap|pop)/i.test(hop.with ?? "");
}

function isSameAddress(one: string | null, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}

function envelopeSender({ return_path: path, received_spf: received }: DeliveryRows, hop: Hop): string | null {
  const sender = path ?? hop.envelope_from ?? received[0]?.envelope_from ?? null;
  return sender === null ? null : sender.replaceAll(/[<>]/g, "").trim();
}

/** Returns the HELO name of a hop in lower case. Null for address literals, which have no SPF record. */
function heloOf({ from }: Hop): string | null {
  return from === null || isIP(from.replaceAll(/[[\]]/g, "")) !== 0 ? null : from.toLowerCase().replace(/\.$/, "");
}
