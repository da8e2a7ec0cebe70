import { normalizeStatus } from "#shared/monitor-checks/registration.ts";
import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";

/** Facts of a registration that the findings are based on. */
export interface RegistrationFacts {
  /** Domain, address or AS number as named in the result. */
  readonly name: string;
  readonly expires: string | null;
  readonly days_left: number | null;
  /** Status words as printed by the registry. */
  readonly status: readonly string[];
  readonly dnssec: { readonly signed: boolean | null };
}

const SOON_DAYS = 30;
const EPP = "https://www.icann.org/resources/pages/epp-status-codes-2014-06-16-en";
const RENEW = "Renew the domain at its registrar and turn on automatic renewal.";

/** Severity and advice for each kind of finding. */
const REGISTRATION_ADVICE = {
  "registration-expired": { severity: "critical", how: RENEW, reference: null },
  "registration-expires-soon": { severity: "warning", how: RENEW, reference: null },
  "dnssec-not-signed": {
    severity: "info",
    how: "Sign the zone and publish its DS record through the registrar.",
    reference: "https://www.rfc-editor.org/rfc/rfc9364",
  },
  "registration-on-hold": {
    severity: "critical",
    how: "Ask the registrar why the domain is on hold. Usual reasons are unpaid fees, a dispute or unverified contact data.",
    reference: EPP,
  },
  "registration-being-deleted": {
    severity: "critical",
    how: "Ask the registrar to restore the domain before the redemption period ends.",
    reference: EPP,
  },
  "transfer-not-locked": {
    severity: "info",
    how: "Turn on the transfer lock (clientTransferProhibited) at the registrar.",
    reference: EPP,
  },
} as const satisfies AdviceTable<string>;

type Draft = FindingDraft<keyof typeof REGISTRATION_ADVICE>;

/** Returns findings about a domain's registration (expiry, holds, locks and DNSSEC signing), worst first. */
export function registrationFindings(facts: RegistrationFacts): Finding[] {
  const drafts = [...endFindings(facts), ...statusFindings(facts), ...signingFindings(facts)];
  return sortFindings(adviseOn(REGISTRATION_ADVICE, drafts, null));
}

function endFindings({ name, expires, days_left: left }: RegistrationFacts): Draft[] {
  if (left === null || expires === null || left > SOON_DAYS) return [];
  const day = expires.slice(0, 10);
  if (left < 0) {
    const message = `The registration of ${name} expired on ${day}. The registry removes the name from the DNS.`;
    return [finding("registration-expired", "expires", message)];
  }
  const message = `The registration of ${name} expires in ${left} ${left === 1 ? "day" : "days"}, on ${day}.`;
  return [finding("registration-expires-soon", "expires", message)];
}

/**
 * EPP status codes (RFC 5731 section 2.3, RFC 3915), in lower case without spaces, because registries print them in
 * several ways.
 */
const HOLDS: ReadonlySet<string> = new Set(["clienthold", "serverhold"]);
const DELETIONS: ReadonlySet<string> = new Set(["pendingdelete", "redemptionperiod"]);
const TRANSFER_LOCKS: ReadonlySet<string> = new Set(["clienttransferprohibited", "servertransferprohibited"]);

function statusFindings({ name, status }: RegistrationFacts): Draft[] {
  const words = status.map((printed) => ({ printed, word: normalizeStatus(printed) }));
  const hold = words.find(({ word }) => HOLDS.has(word));
  const deletion = words.find(({ word }) => DELETIONS.has(word));
  const isEpp = words.some(({ word }) => word === "ok" || word.startsWith("client") || word.startsWith("server"));
  const isLocked = words.some(({ word }) => TRANSFER_LOCKS.has(word));
  const found: Draft[] = [];
  if (hold !== undefined) {
    found.push(
      finding(
        "registration-on-hold",
        "status",
        `${name} is on hold (${hold.printed.slice(0, 100)}), so the registry does not publish it in the DNS.`,
      ),
    );
  }
  if (deletion !== undefined) {
    found.push(
      finding("registration-being-deleted", "status", `${name} is being deleted (${deletion.printed.slice(0, 100)}).`),
    );
  }
  if (isEpp && !isLocked) {
    found.push(
      finding(
        "transfer-not-locked",
        "status",
        `${name} has no transfer lock. Anyone with its transfer code can move it to another registrar.`,
      ),
    );
  }
  return found;
}

function signingFindings({ name, dnssec }: RegistrationFacts): Draft[] {
  if (dnssec.signed !== false) return [];
  const message = `The registry has no DS record for ${name}, so its answers are not protected by DNSSEC.`;
  return [finding("dnssec-not-signed", "dnssec", message)];
}
