import type { Finding, Severity } from "#shared/findings.ts";
import type { DmarcContext } from "#probe-agent/analysis/mail/dmarc/findings.ts";
import { publishDmarc } from "#probe-agent/analysis/mail/dmarc/findings.ts";
import {
  publishStsRecord,
  publishTlsRpt,
  serveStsPolicy,
  type PolicyContext,
} from "#probe-agent/analysis/mail/domain/policy-guide.ts";
import type { MailCheck, MailFacts } from "#probe-agent/analysis/mail/domain/verdict.ts";
import { publishEnd, publishSpf, type SpfContext } from "#probe-agent/analysis/mail/spf/findings.ts";

/** What the records to publish are made of. */
type CheckContext = PolicyContext & {
  readonly spf: SpfContext;
  readonly dmarc: DmarcContext;
};

interface CheckAdvice {
  readonly severity: (facts: MailFacts) => Severity;
  readonly how: (context: CheckContext, facts: MailFacts) => string;
  readonly reference: string;
  /** The check cannot pass before another one does, whose finding says it. */
  readonly follows?: (facts: MailFacts) => boolean;
  /** In place of the check's detail. */
  readonly message?: (facts: MailFacts) => string | null;
}

const hasNoSpf = ({ spf }: MailFacts): boolean => spf.state === "absent";
const hasNoDmarc = ({ dmarc }: MailFacts): boolean => dmarc.policy_effective === null;

/** Severity and advice of each check that is not passed, by its id. */
const CHECK_GUIDE: Readonly<Record<string, CheckAdvice>> = {
  spf_valid: {
    severity: (facts) => (hasNoSpf(facts) ? "warning" : "critical"),
    how: ({ spf }, facts) =>
      hasNoSpf(facts) ? publishSpf(spf) : `Correct the SPF record at ${spf.domain} as the other SPF findings say.`,
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-4.5",
    message: (facts) =>
      hasNoSpf(facts) ? null : "The SPF record is invalid: receivers end its evaluation with permerror.",
  },
  spf_all: {
    severity: ({ spf }) => (spf.passes_all ? "critical" : "warning"),
    how: ({ spf }) => publishEnd(spf),
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-5.1",
    follows: hasNoSpf,
    message: ({ spf: { passes_all: everyone, all_qualifier: all } }) => {
      if (everyone) return "The SPF record passes every sender in the world.";
      const end = all === null ? "ends without all" : `ends in an all that means ${all}`;
      return `The SPF record ${end}: other senders are not refused.`;
    },
  },
  spf_lookups: {
    severity: () => "critical",
    how: ({ spf }) =>
      `Remove includes of services that no longer send for ${spf.domain}, replace a and mx by ip4: and ip6: terms, or move a service to a subdomain, until at most 10 terms ask the DNS.`,
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-4.6.4",
    follows: (facts) => facts.spf.lookups === null,
  },
  dmarc_present: {
    severity: () => "critical",
    how: ({ dmarc }) => publishDmarc(dmarc, {}),
    reference: "https://www.rfc-editor.org/rfc/rfc9989#section-4.7",
    message: () => "No DMARC record applies: anyone can send mail in the domain's name.",
  },
  dmarc_policy: {
    severity: ({ dmarc }) => (dmarc.policy_effective === "none" ? "warning" : "info"),
    how: ({ dmarc }, facts) =>
      publishDmarc(dmarc, {
        t: null,
        ...(dmarc.foundAt === dmarc.domain ? {} : { sp: null }),
        p: facts.dmarc.policy_effective === "none" ? "quarantine" : "reject",
      }),
    reference: "https://www.rfc-editor.org/rfc/rfc9989#section-4.7",
    follows: hasNoDmarc,
    message: ({ dmarc }) =>
      dmarc.policy_effective === "none"
        ? "The DMARC policy in effect is none: mail that fails is delivered."
        : "The DMARC policy in effect is quarantine: mail that fails is put into spam folders, not refused.",
  },
  dmarc_subdomains: {
    severity: () => "warning",
    how: ({ dmarc }) => publishDmarc(dmarc, { sp: null, np: null }),
    reference: "https://www.rfc-editor.org/rfc/rfc9989#section-4.7",
    follows: hasNoDmarc,
    message: ({ policies }) =>
      policies === null
        ? null
        : `The DMARC policy is ${policies.own} for the domain, ${policies.sub} for its subdomains and ${policies.absent} for names that do not exist.`,
  },
  dmarc_reports: {
    severity: () => "info",
    how: ({ dmarc }) => publishDmarc(dmarc, { rua: `mailto:dmarc-reports@${dmarc.foundAt}` }),
    reference: "https://www.rfc-editor.org/rfc/rfc9989#section-4.7",
    follows: hasNoDmarc,
    message: () => "No usable address gets DMARC reports: nobody sees who sends in the domain's name.",
  },
  dkim_key: {
    severity: () => "warning",
    how: ({ domain }) =>
      `Make an RSA key of 2048 bits (openssl genrsa -out dkim-private.pem 2048) and publish it at <selector>._domainkey.${domain}: "v=DKIM1; k=rsa; p=<base64 of the public key>", with p from: openssl pkey -in dkim-private.pem -pubout -outform DER | openssl base64 -A`,
    reference: "https://www.rfc-editor.org/rfc/rfc8301#section-3.2",
    message: ({ selectors }) =>
      `None of the DKIM keys found (${selectors
        .slice(0, 5)
        .map(({ selector }) => selector)
        .join(", ")}) is valid and of 2048 bits or Ed25519.`,
  },
  transport: {
    severity: () => "warning",
    how: (context, { mtaSts }) =>
      mtaSts.mode === "testing"
        ? `Set "mode: enforce" in the policy once reports show no failures, then publish a new id. ${publishStsRecord(context)}`
        : `${publishStsRecord(context)}. ${serveStsPolicy(context)}`,
    reference: "https://www.rfc-editor.org/rfc/rfc8461",
    message: ({ mtaSts, dane }) =>
      `Neither MTA-STS (mode ${mtaSts.mode ?? "not published"}) nor DANE (${dane.hosts_secure} of ${dane.hosts_total} mail hosts) makes senders encrypt: an attacker on the way can read incoming mail.`,
  },
  tls_rpt: {
    severity: () => "info",
    how: publishTlsRpt,
    reference: "https://www.rfc-editor.org/rfc/rfc8460#section-3",
    message: () => "The domain asks for no reports on TLS failures of incoming mail.",
  },
  reverse_names: {
    severity: () => "warning",
    how: () =>
      "Ask the operator of each address (the hosting provider) for a PTR record that names its mail host, and publish the address at that name.",
    reference: "https://support.google.com/a/answer/81126",
    message: (facts) => `Reverse names that are missing or do not lead back: ${reverseFaults(facts)}.`,
  },
};

const MAX_NAMED = 5;
/** Field of the result that a check of the category MX/TLS is about. */
const PARTS: Readonly<Record<string, string>> = { transport: "mta_sts", tls_rpt: "tls_rpt", reverse_names: "mx" };

function partOf(id: string, category: MailCheck["category"]): string {
  return category === "MX/TLS" ? (PARTS[id] ?? "mx") : category.toLowerCase();
}

/** One finding for each check that is not passed, where its cause has none of its own; `where` is the field of the result. */
export function findingsOfChecks(checks: readonly MailCheck[], facts: MailFacts, context: CheckContext): Finding[] {
  return checks.flatMap(({ id, category, status, detail }): Finding[] => {
    const advice = CHECK_GUIDE[id];
    const isOpen = status === "fail" || status === "partial";
    if (advice === undefined || !isOpen || advice.follows?.(facts) === true) return [];
    return [
      {
        id: id.replaceAll("_", "-"),
        severity: advice.severity(facts),
        message: advice.message?.(facts) ?? detail,
        how: advice.how(context, facts),
        reference: advice.reference,
        where: partOf(id, category),
      },
    ];
  });
}

function reverseFaults({ mx }: MailFacts): string {
  const faults = mx.records.flatMap(({ host, addresses }) =>
    addresses
      .filter(({ has_ptr: named, fcrdns }) => named === false || fcrdns === false)
      .map(({ ip, ptr }) => `${ip} of ${host} (${ptr ?? "none"})`),
  );
  const more = faults.length > MAX_NAMED ? ` and ${faults.length - MAX_NAMED} more` : "";
  return `${faults.slice(0, MAX_NAMED).join(", ")}${more}`;
}
