/** The facts of a registration that decide whether a domain works. */
export interface Registration {
  /** false: nobody holds it; null: the registry does not say. */
  readonly registered: boolean | null;
  /** ISO 8601 UTC; null if the registry does not state it. */
  readonly expires: string | null;
  /** Status words as the registry prints them. */
  readonly status: readonly string[];
}

/** Why a domain does not work, as a stable word and one sentence. */
interface RegistrationFault {
  readonly reason: "not_registered" | "pending_delete" | "redemption_period" | "expired" | "on_hold";
  readonly message: string;
  /** Whether the registration itself is lost, or about to be: a hold can have other reasons. */
  readonly isLapsed: boolean;
}

/**
 * Returns why a registered domain does not work; null if it does. The status words are those of EPP (RFC 5731 section
 * 2.3, RFC 3915 section 3.1).
 */
export function findRegistrationFault(
  { registered, expires, status }: Registration,
  now: Date,
): RegistrationFault | null {
  const words = new Set(status.map(normalizeStatus));
  if (registered === false) {
    return { reason: "not_registered", message: "the domain is not registered: nobody holds it", isLapsed: true };
  }
  if (words.has("pendingdelete")) {
    return { reason: "pending_delete", message: "the registry is deleting the domain (pendingDelete)", isLapsed: true };
  }
  if (words.has("redemptionperiod")) {
    const message = "the domain was deleted and can only be restored (redemptionPeriod)";
    return { reason: "redemption_period", message, isLapsed: true };
  }
  if (expires !== null && Date.parse(expires) <= now.getTime()) {
    return { reason: "expired", message: `the registration expired on ${expires.slice(0, 10)}`, isLapsed: true };
  }
  const hold = ["clienthold", "serverhold"].find((word) => words.has(word));
  if (hold === undefined) return null;
  const printed = hold === "clienthold" ? "clientHold" : "serverHold";
  const message = `the domain is on hold (${printed}): the registry does not publish it in the DNS`;
  return { reason: "on_hold", message, isLapsed: false };
}

/** Normalizes a status: "client hold", "clientHold" and "client_hold" are the same status. */
export function normalizeStatus(printed: string): string {
  return printed.toLowerCase().replaceAll(" ", "").replaceAll("_", "").replaceAll("-", "");
}
