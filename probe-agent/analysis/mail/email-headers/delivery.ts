import { isIP } from "node:net";
import { organisationOf } from "#probe-agent/analysis/mail/email-headers/received/operators.ts";
import type { HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";

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
