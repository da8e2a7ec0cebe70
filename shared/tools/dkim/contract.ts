import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Domain, Nullable } from "#shared/tools/fields.ts";
import { DkimPublicKey, DkimSelector } from "#shared/tools/dkim/selector.ts";
import { count, findings, list, OBSERVED_FIELDS, text, texts, truth } from "#shared/tools/shapes.ts";

// RFC 6376 section 3.1: labels of a host name, separated by dots. Underscores occur in practice.
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;
const MAX_SELECTOR = 200;

const Result = Type.Object({
  domain: text("Requested domain in A-labels"),
  selector: Nullable(text("Selector of the fields below: the requested one, otherwise the best found; null for none")),
  record: Nullable(text("TXT record at <selector>._domainkey.<domain>, its strings joined; null if there is none")),
  records_found: Nullable(count("Number of TXT records at that name; one is allowed; null if the lookup failed")),
  valid: Nullable(truth("Whether a verifier can use the key; null if no selector is known or the lookup failed")),
  invalid_reason: Nullable(text("Why no verifier can use the key; null if it is valid or nothing is known")),
  v: Nullable(text("Version; DKIM1 if the tag is absent")),
  k: Nullable(text("Key type: rsa (default) or ed25519")),
  h: Nullable(texts("Allowed hash algorithms; null for all")),
  p: Nullable(text("Key data, base64 without white space; empty for a revoked key")),
  t: texts("Flags: y testing, s only the domain itself"),
  s: texts("Services the key is for; * for all"),
  n: Nullable(text("Note of the domain's owner")),
  key: Nullable(DkimPublicKey),
  revoked: truth("Whether the key is revoked (empty p)"),
  testing: truth("Whether the domain declares a test of DKIM (t=y)"),
  strict_subdomain: truth("Whether the signer's identity must be in the domain itself (t=s)"),
  weak: Nullable(truth("Whether it is an RSA key of less than 2048 bits; null without a key")),
  cname_target: Nullable(text("Target if the name is an alias; null otherwise")),
  discovered_selectors: texts("Well-known selectors that were found; empty if the request has a selector"),
  selectors: list(DkimSelector, "The selectors found, each with its key; the requested one if the request has one"),
  wildcard: Nullable(truth("Whether every selector has the same record (a wildcard); null if not looked up")),
  findings: findings(),
  ...OBSERVED_FIELDS,
});

/** Contract of dkim, which checks the key that verifies a domain's signatures. */
export const dkim = defineTool({
  name: "dkim",
  title: "DKIM key",
  summary: "Checks a domain's DKIM key by selector; without a selector, tries well-known selectors",
  scope: "dns",
  toolset: "mail",
  target: { param: "domain", kind: "domain", connects: false },
  example: { domain: "example.com", selector: "default" },
  params: Type.Object({
    domain: Domain({ description: "Signing domain (d= of the signature)" }),
    selector: Type.Optional(
      Type.String({
        maxLength: MAX_SELECTOR,
        examples: ["default"],
        description: "Selector (s= of the signature), can contain dots; default: well-known selectors are tried",
      }),
    ),
  }),
  result: Result,
  refine: ({ selector }) => {
    const good = selector === undefined || selector === "" || selector.split(".").every((label) => LABEL.test(label));
    const message = "must be labels of letters, digits, - and _, separated by dots, with up to 63 characters each";
    return good ? null : { field: "selector", reason: "type", message };
  },
  deadlineMs: () => 10_000,
  open: { q: "domain", extra: ["selector"] },
  across: {
    agreeOn: ({ record, selectors }: Static<typeof Result>) => [
      record,
      selectors.map(({ selector, valid }) => [selector, valid]),
    ],
    measure: () => ({}),
  },
});
