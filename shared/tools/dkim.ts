import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Domain, Nullable } from "#shared/tools/fields.ts";
import { DkimPublicKey, DkimSelector } from "#shared/tools/mail/dkim-key.ts";
import { count, findings, list, OBSERVED_FIELDS, text, texts, truth } from "#shared/tools/shapes.ts";

// RFC 6376 section 3.1: labels of a host name with dots between; underscores occur.
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;
const MAX_SELECTOR = 200;

const Result = Type.Object({
  domain: text("Domain asked about, A-labels"),
  selector: Nullable(text("Selector the fields below speak of: the one asked for, else the best found; null for none")),
  record: Nullable(text("TXT record at <selector>._domainkey.<domain>, its strings joined; null where there is none")),
  records_found: Nullable(count("TXT records at that name; only one may be; null where it could not be looked up")),
  valid: Nullable(truth("Whether a verifier could use the key; null where no selector is known or nobody answered")),
  invalid_reason: Nullable(text("Why no verifier can use the key; null where it is valid or nothing is known")),
  v: Nullable(text("Version; DKIM1 also where the tag is left out")),
  k: Nullable(text("Kind of key: rsa (default) or ed25519")),
  h: Nullable(texts("Hash algorithms allowed; null for all")),
  p: Nullable(text("Key data, base64 without white space; empty for a revoked key")),
  t: texts("Flags: y testing, s only the domain itself"),
  s: texts("Services the key is for; * for all"),
  n: Nullable(text("Note of the domain's owner")),
  key: Nullable(DkimPublicKey),
  revoked: truth("Whether the key is revoked (empty p)"),
  testing: truth("Whether the domain says it is testing (t=y)"),
  strict_subdomain: truth("Whether the signer's identity must be in the domain itself (t=s)"),
  weak: Nullable(truth("Whether it is an RSA key of less than 2048 bits; null without a key")),
  cname_target: Nullable(text("Where the name leads as an alias; null where it is none")),
  discovered_selectors: texts("Selectors found among well-known ones; empty where a selector was given"),
  selectors: list(DkimSelector, "The selectors found, each with its key; the one given, where one was"),
  wildcard: Nullable(
    truth("Whether every selector has the same record (a wildcard); null where that was not looked up"),
  ),
  findings: findings(),
  ...OBSERVED_FIELDS,
});

/** The key that verifies a domain's signatures. */
export const dkim = defineTool({
  name: "dkim",
  title: "DKIM key",
  summary: "A domain's DKIM key by selector, read and judged; without a selector well-known ones are tried",
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
        description: "Selector (s= of the signature), may have dots; default: well-known ones are tried",
      }),
    ),
  }),
  result: Result,
  refine: ({ selector }) => {
    const good = selector === undefined || selector === "" || selector.split(".").every((label) => LABEL.test(label));
    const message = "must be labels of letters, digits, - and _ with dots between, at most 63 characters each";
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
