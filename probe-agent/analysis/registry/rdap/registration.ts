import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import { readIpNetwork, type RdapFinding } from "#probe-agent/analysis/registry/rdap.ts";
import { readAutnum, type RdapAutnum } from "#probe-agent/analysis/registry/rdap/autnum.ts";
import { readDomain, type RdapDomain } from "#probe-agent/analysis/registry/rdap/domain.ts";

/** Subject of an RDAP query (RFC 9082 section 3.1). Names are lower-case A-labels. */
export type RdapSubject =
  | { readonly kind: "domain"; readonly name: string }
  | { readonly kind: "ip"; readonly ip: string }
  | { readonly kind: "autnum"; readonly asn: number };

/** Registration of each kind of subject. Null if the answer is not a registration of the subject. */
export interface RdapFindings {
  readonly domain: RdapDomain | null;
  readonly ip: RdapFinding | null;
  readonly autnum: RdapAutnum | null;
}

/** A registry's answer, and the subject of the query. */
interface RdapInput {
  readonly text: string;
  readonly subject: RdapSubject;
}

/** A parsed answer. */
type RdapReading =
  | {
      readonly isJson: true;
      readonly finding: RdapFindings[keyof RdapFindings];
      /** The document as JSON text. Null if it is nested too deeply to write. */
      readonly raw: string | null;
    }
  | { readonly isJson: false };

/** Parses a registry's answer about a domain, an address or an AS number. */
function readRegistration({ text, subject }: RdapInput): RdapReading {
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    return { isJson: false };
  }
  return { isJson: true, finding: findingOf(value, subject), raw: rawOf(value) };
}

/** An RDAP response about a domain or a number resource. */
export const registrationAnalysis = defineAnalysis("rdap", readRegistration);

function findingOf(value: unknown, subject: RdapSubject): RdapFindings[keyof RdapFindings] {
  switch (subject.kind) {
    case "domain":
      return readDomain(value, subject.name);
    case "ip":
      return readIpNetwork(value, subject.ip);
    default:
      return readAutnum(value, subject.asn);
  }
}

function rawOf(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}
