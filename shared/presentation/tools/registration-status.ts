import type { Fact } from "#shared/presentation/presentation.ts";
import { existing, fact } from "#shared/presentation/build.ts";

/** What a lock prevents, by the last part of its status. */
const LOCKED: Readonly<Record<string, string>> = {
  deleteprohibited: "deletion",
  transferprohibited: "transfer",
  updateprohibited: "changes",
  renewprohibited: "renewal",
};

/**
 * EPP statuses (RFC 5731 section 2.3, RFC 3915 section 3.1) in the words of RDAP (RFC 8056) or WHOIS, without spaces.
 */
const MEANINGS: ReadonlyMap<string, string> = new Map([
  ["ok", "no locks"],
  ["active", "in use"],
  ["inactive", "has no name servers"],
  ["clienthold", "taken out of the DNS by the registrar"],
  ["serverhold", "taken out of the DNS by the registry"],
  ["redemptionperiod", "deleted, its last holder can still restore it"],
  ["pendingdelete", "will be deleted within days"],
  ["pendingrestore", "its restoration is under way"],
  ["pendingtransfer", "a transfer to another registrar is under way"],
  ["pendingcreate", "its registration is under way"],
  ["pendingrenew", "its renewal is under way"],
  ["pendingupdate", "a change is under way"],
  ["addperiod", "registered a few days ago"],
  ["renewperiod", "renewed a short time ago"],
  ["autorenewperiod", "renewed by the registry a short time ago"],
  ["transferperiod", "transferred a short time ago"],
]);

/** Statuses of a domain that does not work, as the end of a sentence about it. */
const STOPS: ReadonlyMap<string, string> = new Map([
  ["redemptionperiod", "was deleted: only its last holder can restore it"],
  ["pendingdelete", "is being deleted by the registry"],
  ["clienthold", "is on hold: its registrar has taken it out of the DNS"],
  ["serverhold", "is on hold: the registry has taken it out of the DNS"],
  ["inactive", "has no name servers, so it does not work"],
]);

/** Returns why a domain with these statuses does not work, as the end of a sentence; null if none says so. */
export function whyStopped(status: readonly string[]): string | null {
  const words = new Set(status.map(normalize));
  for (const [word, reason] of STOPS) if (words.has(word)) return reason;
  return null;
}

/** Says the statuses of a registration in words: its locks by who set them, and all others. */
export function statusFacts(status: readonly string[]): readonly (Fact | null)[] {
  const words = status.map((printed) => ({ printed, word: normalize(printed) }));
  const locks = (setter: string) =>
    words
      .flatMap(({ word }) => (word.startsWith(setter) ? existing(LOCKED[word.slice(setter.length)]) : []))
      .join(", ");
  const others = words.filter(
    ({ word }) => !/^(?:client|server)(?:delete|transfer|update|renew)prohibited$/.test(word),
  );
  const meanings = others.map(({ printed, word }) => {
    const meaning = MEANINGS.get(word);
    return meaning === undefined ? printed : `${printed} (${meaning})`;
  });
  return [
    fact("Status", meanings.join(", "), { tone: whyStopped(status) === null ? null : "bad" }),
    fact("Registrar locks", locks("client")),
    fact("Registry locks", locks("server")),
  ];
}

/** Normalizes a status: "client hold", "clientHold" and "client_hold" are the same. */
function normalize(printed: string): string {
  return printed.toLowerCase().replaceAll(/[ _-]/g, "");
}
