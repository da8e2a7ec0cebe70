import { parseReportUris } from "#probe-agent/tools/email-check/dmarc-report-uri.ts";
import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailCheck } from "#shared/tools/email-check/contract.ts";
import type { SpfReport } from "#probe-agent/tools/email-check/spf-report.ts";

type Result = ResultOf<typeof emailCheck>;
type Policy = NonNullable<Result["dmarc"]["policy_effective"]>;

/** Facts that decide the score and whether the domain can be spoofed. */
export interface MailFacts {
  readonly spf: SpfReport;
  readonly dmarc: Result["dmarc"];
  /** Whether a failed lookup leaves the DMARC policy uncertain. */
  readonly dmarcUncertain: boolean;
  /**
   * DMARC policies for the record's domain (`own`), its subdomains (`sub`) and subdomains that do not exist (`absent`);
   * null if no record applies.
   */
  readonly policies: { readonly own: Policy; readonly sub: Policy; readonly absent: Policy } | null;
  readonly selectors: Result["dkim"]["selectors"];
  readonly mx: Result["mx"];
  readonly mtaSts: Result["mta_sts"];
  readonly tlsRpt: Result["tls_rpt"];
  readonly dane: Result["dane"];
}

/** One check of the score. */
export type MailCheck = Result["checks"][number];

/** Score with its checks. */
interface MailScore {
  readonly checks: MailCheck[];
  /** Percentage of the points of all checks that apply; null if none applies. */
  readonly score: number | null;
  readonly grade: LetterGrade | null;
}

/** Detail of a check whose DNS lookup failed. */
const UNKNOWN = "Unknown: the DNS lookup failed.";
/** Policies from weak to strong. */
const ORDER: readonly Policy[] = ["none", "quarantine", "reject"];

/**
 * Scores a domain: SPF 30 points, DMARC 40, DKIM 15, MX and TLS 15. Checks that do not apply count neither as points
 * earned nor as points available.
 */
export function scoreMail(facts: MailFacts): MailScore {
  const checks = [...spfChecks(facts), ...dmarcChecks(facts), ...dkimChecks(facts), ...transportChecks(facts)];
  const applicable = checks.filter(({ status }) => status !== "na");
  const most = applicable.reduce((sum, { max }) => sum + max, 0);
  const earned = applicable.reduce((sum, { score }) => sum + score, 0);
  const score = most === 0 ? null : Math.round((100 * earned) / most);
  return { checks, score, grade: score === null ? null : letterGrade(score) };
}

/** Makes a check. `earned` is null if the check does not apply or its result is unknown. */
function makeCheck(
  id: string,
  category: MailCheck["category"],
  max: number,
  earned: number | boolean | null,
  detail: string,
): MailCheck {
  const score = earned === null ? 0 : typeof earned === "number" ? earned : earned ? max : 0;
  const status = earned === null ? "na" : score === max ? "pass" : score > 0 ? "partial" : "fail";
  return { id, category, status, score, max, detail };
}

function spfChecks({ spf }: MailFacts): MailCheck[] {
  const { state, valid, all_qualifier: all, lookups, passes_all: everyone } = spf;
  const absent = state === "absent";
  const known = state !== "unknown";
  const strict = (all === "fail" || all === "softfail") && !everyone;
  // If a lookup failed below the domain's own record, the final all is known, but the number of lookups is not.
  const counted = absent ? false : lookups === null ? (known && valid === false ? false : null) : lookups <= 10;
  return [
    makeCheck(
      "spf_valid",
      "SPF",
      15,
      absent ? false : valid,
      absent
        ? "There is no SPF record."
        : (spf.errors[0]?.message ?? (valid === null ? "Unknown." : "The record is valid.")),
    ),
    makeCheck(
      "spf_all",
      "SPF",
      10,
      known ? strict : null,
      absent
        ? "There is no SPF record."
        : everyone
          ? "Every sender passes."
          : known
            ? `Result for other senders: ${all ?? "not set"}.`
            : UNKNOWN,
    ),
    makeCheck(
      "spf_lookups",
      "SPF",
      5,
      counted,
      absent ? "There is no SPF record." : `Terms with a DNS lookup: ${lookups ?? "unknown"}; 10 are allowed.`,
    ),
  ];
}

function dmarcChecks({ dmarc, dmarcUncertain, policies }: MailFacts): MailCheck[] {
  const unknown = dmarcUncertain;
  const say = (detail: string): string => (unknown ? UNKNOWN : detail);
  const effective = dmarc.policy_effective;
  const points: Readonly<Record<Policy, number>> = { none: 4, quarantine: 14, reject: 20 };
  const belowOk =
    policies !== null &&
    [policies.sub, policies.absent].every((policy) => ORDER.indexOf(policy) >= ORDER.indexOf(policies.own));
  const refusing = dmarc.external_reporting_authorised.filter(({ authorised }) => authorised === false);
  const refused = new Set(refusing.map(({ destination }) => destination));
  const targets = parseReportUris("rua", dmarc.rua.join(","), []);
  const reports = targets.some(({ usable, domain }) => usable && !refused.has(domain ?? ""));
  return [
    makeCheck(
      "dmarc_present",
      "DMARC",
      10,
      unknown ? null : effective !== null,
      say(effective === null ? "No DMARC record applies." : `The DMARC record of ${dmarc.found_at ?? "?"} applies.`),
    ),
    makeCheck(
      "dmarc_policy",
      "DMARC",
      20,
      unknown ? null : effective === null ? 0 : points[effective],
      say(effective === null ? "No policy is in effect." : `Policy in effect: ${effective}.`),
    ),
    makeCheck(
      "dmarc_subdomains",
      "DMARC",
      5,
      unknown ? null : effective !== null && belowOk,
      say(belowOk ? "Subdomains are as protected as the domain." : "Subdomains are less protected than the domain."),
    ),
    makeCheck(
      "dmarc_reports",
      "DMARC",
      5,
      unknown ? null : effective !== null && reports,
      say(reports ? "A usable address receives reports." : "No usable address receives reports."),
    ),
  ];
}

function dkimChecks({ selectors }: MailFacts): MailCheck[] {
  const strong = selectors.some(({ valid, key }) => valid && (key?.type === "ed25519" || (key?.bits ?? 0) >= 2048));
  const detail =
    selectors.length === 0
      ? "No key was found under well-known selectors; keys under other selectors may exist."
      : `Keys found: ${selectors.length}.`;
  return [makeCheck("dkim_key", "DKIM", 15, selectors.length === 0 ? null : strong, detail)];
}

/** Checks mail hosts and their TLS. None of these checks applies to a domain that accepts no mail. */
function transportChecks({ mx, mtaSts, tlsRpt, dane }: MailFacts): MailCheck[] {
  const hosts = mx.records.filter(({ host }) => host !== ".");
  const applies = mx.null_mx === false && hosts.length > 0;
  const enforced = mtaSts.mode === "enforce" && mtaSts.mx_match !== false;
  const unsure = mtaSts.dns.present === null || dane.status === "unknown";
  const protectedWay = enforced || dane.status === "all" ? true : unsure ? null : false;
  const addresses = hosts.flatMap((host) => host.addresses);
  const nameless = addresses.filter(({ has_ptr: named }) => named === false);
  // A missing reverse name is worse than a reverse name that resolves to another address.
  const names = addresses.map(({ fcrdns }) => fcrdns).filter((fcrdns) => fcrdns !== null);
  const reverse = nameless.length > 0 ? false : names.length === 0 ? null : names.every(Boolean);
  const say = (isKnown: boolean, detail: string): string =>
    mx.null_mx === null ? UNKNOWN : !applies ? "The domain accepts no mail." : isKnown ? detail : UNKNOWN;
  return [
    makeCheck(
      "transport",
      "MX/TLS",
      8,
      applies ? protectedWay : null,
      say(
        protectedWay !== null,
        enforced ? "MTA-STS is enforced." : `DANE: ${dane.status}; MTA-STS: ${mtaSts.mode ?? "none"}.`,
      ),
    ),
    makeCheck(
      "tls_rpt",
      "MX/TLS",
      2,
      applies ? tlsRpt.valid : null,
      say(
        tlsRpt.valid !== null,
        tlsRpt.valid === true ? "The domain requests TLS reports." : "The domain requests no TLS reports.",
      ),
    ),
    makeCheck(
      "reverse_names",
      "MX/TLS",
      5,
      applies ? reverse : null,
      say(
        true,
        reverse === null
          ? "No reverse name is known."
          : reverse
            ? "All mail hosts have reverse names that resolve to their addresses."
            : nameless.length > 0
              ? `${nameless[0]?.ip ?? "An address"} of a mail host has no reverse name.`
              : "The reverse name of a mail host does not resolve to its address.",
      ),
    ),
  ];
}

/** Decides whether receivers that apply DMARC deliver mail that others send in the domain's name, with the reason. */
export function assessSpoofing({ spf, dmarc, dmarcUncertain, policies }: MailFacts): {
  spoofable: boolean | null;
  reason: string;
} {
  if (spf.passes_all && spf.valid !== false)
    return spoofable("SPF passes every sender on the internet, so DMARC passes too");
  if (dmarcUncertain) return { spoofable: null, reason: "The DMARC record could not be looked up." };
  const policy = dmarc.policy_effective;
  if (policy === null) {
    const hint =
      spf.all_qualifier === "fail" ? "; SPF (-all) alone does not protect the From address that people see" : "";
    return spoofable(`No DMARC record applies${hint}`);
  }
  const why = dmarc.t === "y" ? " (weakened by t=y)" : "";
  if (policy === "none") return spoofable(`The DMARC policy in effect is none${why}: mail that fails is delivered`);
  const weak = policies !== null && dmarc.found_at !== null && [policies.sub, policies.absent].includes("none");
  const below = weak ? "; mail from subdomains can be spoofed because their policy is none" : "";
  const part =
    dmarc.pct === null || dmarc.pct === 100
      ? ""
      : `; receivers that follow RFC 7489 do so for ${dmarc.pct} % of that mail (pct)`;
  const act = policy === "reject" ? "rejected" : "quarantined";
  return { spoofable: false, reason: `Mail that fails DMARC is ${act}${why}${part}${below}.` };
}

function spoofable(reason: string): { spoofable: true; reason: string } {
  return { spoofable: true, reason: `${reason}.` };
}
