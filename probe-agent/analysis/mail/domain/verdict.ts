import { parseReportUris } from "#probe-agent/analysis/mail/dmarc/report-uri.ts";
import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailCheck } from "#shared/tools/email-check.ts";
import type { SpfReport } from "#probe-agent/analysis/mail/spf/report.ts";

type Result = ResultOf<typeof emailCheck>;
type Policy = NonNullable<Result["dmarc"]["policy_effective"]>;

/** Everything the score and the verdict on spoofing rest on. */
export interface MailFacts {
  readonly spf: SpfReport;
  readonly dmarc: Result["dmarc"];
  readonly dmarcUncertain: boolean;
  /** Policies for the record's own domain, its subdomains, and those that do not exist; null where none applies. */
  readonly policies: { readonly own: Policy; readonly sub: Policy; readonly absent: Policy } | null;
  readonly selectors: Result["dkim"]["selectors"];
  readonly mx: Result["mx"];
  readonly mtaSts: Result["mta_sts"];
  readonly tlsRpt: Result["tls_rpt"];
  readonly dane: Result["dane"];
}

/** A line of the score. */
export type MailCheck = Result["checks"][number];

/** Score with what it is made of. */
interface MailScore {
  readonly checks: MailCheck[];
  readonly score: number | null;
  readonly grade: LetterGrade | null;
}

/** Of what the DNS did not say. */
const UNKNOWN = "Not known: the DNS gave no answer.";
const ORDER: readonly Policy[] = ["none", "quarantine", "reject"];

/** Points: SPF 30, DMARC 40, DKIM 15, MX and TLS 15; what does not apply leaves the denominator. */
export function scoreMail(facts: MailFacts): MailScore {
  const checks = [...spfChecks(facts), ...dmarcChecks(facts), ...dkimChecks(facts), ...transportChecks(facts)];
  const applicable = checks.filter(({ status }) => status !== "na");
  const most = applicable.reduce((sum, { max }) => sum + max, 0);
  const earned = applicable.reduce((sum, { score }) => sum + score, 0);
  const score = most === 0 ? null : Math.round((100 * earned) / most);
  return { checks, score, grade: score === null ? null : letterGrade(score) };
}

/** `earned` null: does not apply or is not known. */
function line(
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
  // A tree that is only partly known: its own record tells the end, not the count.
  const counted = absent ? false : lookups === null ? (known && valid === false ? false : null) : lookups <= 10;
  return [
    line(
      "spf_valid",
      "SPF",
      15,
      absent ? false : valid,
      absent
        ? "There is no SPF record."
        : (spf.errors[0]?.message ?? (valid === null ? "Not known." : "The record is valid.")),
    ),
    line(
      "spf_all",
      "SPF",
      10,
      known ? strict : null,
      absent
        ? "There is no SPF record."
        : everyone
          ? "Every sender passes."
          : known
            ? `Other senders: ${all ?? "nothing said"}.`
            : UNKNOWN,
    ),
    line(
      "spf_lookups",
      "SPF",
      5,
      counted,
      absent ? "There is no SPF record." : `${lookups ?? "Unknown number of"} terms ask the DNS; 10 are allowed.`,
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
  const agreed = dmarc.external_reporting_authorised.filter(({ authorised }) => authorised === false);
  const refused = new Set(agreed.map(({ destination }) => destination));
  const targets = parseReportUris("rua", dmarc.rua.join(","), []);
  const reports = targets.some(({ usable, domain }) => usable && !refused.has(domain ?? ""));
  return [
    line(
      "dmarc_present",
      "DMARC",
      10,
      unknown ? null : effective !== null,
      say(effective === null ? "No DMARC record applies." : `A record applies, at ${dmarc.found_at ?? "nowhere"}.`),
    ),
    line(
      "dmarc_policy",
      "DMARC",
      20,
      unknown ? null : effective === null ? 0 : points[effective],
      say(`Policy in effect: ${effective ?? "none at all"}.`),
    ),
    line(
      "dmarc_subdomains",
      "DMARC",
      5,
      unknown ? null : effective !== null && belowOk,
      say(belowOk ? "Subdomains are protected as the domain is." : "Subdomains are less protected."),
    ),
    line(
      "dmarc_reports",
      "DMARC",
      5,
      unknown ? null : effective !== null && reports,
      say(reports ? "Reports go out." : "Nobody gets reports."),
    ),
  ];
}

function dkimChecks({ selectors }: MailFacts): MailCheck[] {
  const strong = selectors.some(({ valid, key }) => valid && (key?.type === "ed25519" || (key?.bits ?? 0) >= 2048));
  const detail =
    selectors.length === 0
      ? "No key was found under well-known selectors; others may exist."
      : `${selectors.length} keys found.`;
  return [line("dkim_key", "DKIM", 15, selectors.length === 0 ? null : strong, detail)];
}

/** Nothing of it applies to a domain that gets no mail. */
function transportChecks({ mx, mtaSts, tlsRpt, dane }: MailFacts): MailCheck[] {
  const hosts = mx.records.filter(({ host }) => host !== ".");
  const applies = mx.null_mx === false && hosts.length > 0;
  const enforced = mtaSts.mode === "enforce" && mtaSts.mx_match !== false;
  const unsure = mtaSts.dns.present === null || dane.status === "unknown";
  const protectedWay = enforced || dane.status === "all" ? true : unsure ? null : false;
  const addresses = hosts.flatMap((host) => host.addresses);
  const nameless = addresses.filter(({ has_ptr: named }) => named === false);
  // An address without a reverse name does worse than one whose name leads elsewhere.
  const names = addresses.map(({ fcrdns }) => fcrdns).filter((fcrdns) => fcrdns !== null);
  const reverse = nameless.length > 0 ? false : names.length === 0 ? null : names.every(Boolean);
  const say = (isKnown: boolean, detail: string): string =>
    mx.null_mx === null ? UNKNOWN : !applies ? "The domain takes no mail." : isKnown ? detail : UNKNOWN;
  return [
    line(
      "transport",
      "MX/TLS",
      8,
      applies ? protectedWay : null,
      say(
        protectedWay !== null,
        enforced ? "MTA-STS is enforced." : `DANE: ${dane.status}; MTA-STS: ${mtaSts.mode ?? "none"}.`,
      ),
    ),
    line(
      "tls_rpt",
      "MX/TLS",
      2,
      applies ? tlsRpt.valid : null,
      say(tlsRpt.valid !== null, tlsRpt.valid === true ? "Reports on TLS are asked for." : "No reports on TLS."),
    ),
    line(
      "reverse_names",
      "MX/TLS",
      5,
      applies ? reverse : null,
      say(
        true,
        reverse === null
          ? "No reverse name is known."
          : reverse
            ? "All mail hosts have reverse names that lead back."
            : nameless.length > 0
              ? `${nameless[0]?.ip ?? "An address"} of a mail host has no reverse name.`
              : "A mail host's reverse name does not lead back.",
      ),
    ),
  ];
}

/** Whether a stranger's mail in the domain's name gets through at receivers that apply DMARC, and why. */
export function judgeSpoofing({ spf, dmarc, dmarcUncertain, policies }: MailFacts): {
  spoofable: boolean | null;
  reason: string;
} {
  if (spf.passes_all && spf.valid !== false)
    return yes("SPF passes every sender in the world, so that DMARC passes too");
  if (dmarcUncertain) return { spoofable: null, reason: "The DMARC record could not be looked up." };
  const policy = dmarc.policy_effective;
  if (policy === null) {
    const hint = spf.all_qualifier === "fail" ? "; SPF (-all) alone does not protect the From address people see" : "";
    return yes(`No DMARC record applies${hint}`);
  }
  const why = dmarc.t === "y" ? " (after t=y)" : "";
  if (policy === "none") return yes(`The DMARC policy in effect is none${why}: mail that fails is delivered`);
  const weak = policies !== null && dmarc.found_at !== null && [policies.sub, policies.absent].includes("none");
  const below = weak ? "; mail from subdomains can be spoofed, as their policy is none" : "";
  const part =
    dmarc.pct === null || dmarc.pct === 100 ? "" : `; receivers by RFC 7489 do so with ${dmarc.pct} % of it (pct)`;
  const act = policy === "reject" ? "rejected" : "put into quarantine";
  return { spoofable: false, reason: `Mail that fails DMARC is ${act}${why}${part}${below}.` };
}

function yes(reason: string): { spoofable: true; reason: string } {
  return { spoofable: true, reason: `${reason}.` };
}
