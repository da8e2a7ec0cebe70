import { isIP } from "node:net";
import { organisationOf } from "#probe-agent/analysis/mail/email-headers/received/operators.ts";
import type { HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";

/** Who handed a message to the receiver's organisation, as far as SPF asks. */
interface Delivery {
  readonly ip: string;
  /** n of the hop. */
  readonly hop: number;
  /** Empty for bounces. */
  readonly mailFrom: string;
  readonly helo: string | null;
}

/** What is looked at. */
export type DeliveryRows = Pick<HeaderRows, "hops" | "auth" | "return_path" | "received_spf">;
type Hop = HeaderRows["hops"][number];

/**
 * The hop where the message entered the receiver's organisation, and its envelope sender; or why they are not known. The
 * address that the receiver's own SPF result names comes first. Without one the hops are followed from the newest down as
 * long as they are inside the organisation: a private client, or one whose name belongs to it. HELO is the client's own
 * word, so it counts only where the receiver noted no name.
 */
export function findDelivery(rows: DeliveryRows): Delivery | { readonly unknown: string } {
  const hop = entryHop(rows);
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

function entryHop({ hops, auth, received_spf: received }: DeliveryRows): Hop | undefined {
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

/** Taken from a mailbox by IMAP or POP: the client address is the mailbox's server. */
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

/** A name; address literals have no SPF. */
function heloOf({ from }: Hop): string | null {
  return from === null || isIP(from.replaceAll(/[[\]]/g, "")) !== 0 ? null : from.toLowerCase().replace(/\.$/, "");
}
