import { existing, fact } from "#shared/presentation/build.ts";
import type { Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { describeDkimKey, dkimKeyTable, isShort } from "#shared/tools/dkim/key-table.ts";
import { counted } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { dkim as contract } from "#shared/tools/dkim/contract.ts";

type Dkim = ResultOf<typeof contract>;

/** dkim: whether receivers can verify with the key, then what the record says, and all keys found. */
export const dkim = definePresenter(contract, (data) => {
  const { selector, valid, key, testing, revoked, records_found: count, s: services } = data;
  return {
    verdict: worst([verdictOf(data.findings), verdictOfKey(data)]),
    headline: headlineOf(data),
    facts: existing(
      fact("Selector", selector),
      fact("Usable", valid === null ? null : valid ? "yes" : `no: ${reasonOf(data)}`, {
        tone: valid === true ? "good" : "bad",
      }),
      fact("Key", describeDkimKey(key), { tone: isShort(key) ? "warning" : null }),
      fact("Test mode", testing ? "yes: receivers ignore failures" : null, { tone: "warning" }),
      fact("Revoked", revoked ? "yes" : null),
      fact("Alias of", data.cname_target),
      fact("Records", count === null || count === 1 ? null : counted(count, "TXT record")),
      fact("Hashes allowed", data.h?.join(", ")),
      fact("Only for", services.length === 0 || services.includes("*") ? null : services.join(", ")),
      fact("Subdomains", data.strict_subdomain ? "the key is not for them" : null),
      fact("Every selector", data.wildcard === true ? "has the same record (wildcard)" : null, { tone: "warning" }),
      fact("Note of the owner", data.n),
    ),
    tables: existing(
      data.selectors.length > 1 || data.discovered_selectors.length > 0 ? dkimKeyTable(data.selectors) : null,
    ),
  };
});

/** Judges neither a revoked key nor that none was found under well-known selectors: DNS cannot list selectors. */
function verdictOfKey({ selector, valid, revoked }: Dkim): Verdict {
  if (selector === null || revoked) return "neutral";
  return valid === null ? "warning" : valid ? "good" : "bad";
}

function headlineOf(data: Dkim): string {
  const { domain, selector, valid, key, revoked, testing, selectors, record } = data;
  const name = `The DKIM key ${selector ?? ""} of ${domain}`;
  if (selector === null) return `No DKIM key of ${domain} was found under well-known selectors; there may be others`;
  if (valid === null) return `${name} cannot be looked up`;
  if (revoked) return `${name} is revoked`;
  if (!valid)
    return record === null ? `${domain} has no DKIM key ${selector}` : `${name} cannot be used: ${reasonOf(data)}`;
  const working = selectors.filter((one) => one.valid).length;
  const known = describeDkimKey(key) ?? "unknown kind";
  const but = existing(isShort(key) ? "too short" : null, testing ? "in test mode" : null).join(" and ");
  if (selectors.length > 1 && but === "")
    return `${domain} has ${counted(selectors.length, "DKIM key")}, ${working} of them usable; best: ${selector} (${known})`;
  return but === "" ? `${name} is valid: ${known}` : `${name} works, but is ${but} (${known})`;
}

function reasonOf({ invalid_reason: reason }: Dkim): string {
  return (reason ?? "not known").replace(/\.$/, "");
}
