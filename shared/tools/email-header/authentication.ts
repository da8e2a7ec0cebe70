import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

const Property = record(
  {
    type: text("Part of the message or session, e.g. smtp, header, policy; empty for nonstandard properties"),
    property: text("Name, e.g. mailfrom, d, from"),
    value: text("Value"),
  },
  "ptype.property=value",
);

const MethodResult = record(
  {
    method: text("Method: spf, dkim, dmarc, arc, iprev, auth, ..."),
    result: text("Result: pass, fail, softfail, neutral, none, temperror, permerror, policy, ..."),
    reason: Nullable(text("Reason; null if the field has none")),
    properties: list(Property, "Properties that were checked"),
    comments: texts("Comments in parentheses"),
  },
  "Result of one method",
);

/** One Authentication-Results field. */
export const AuthenticationResults = record(
  {
    authserv_id: Nullable(text("Host that wrote the results; null if the field names none")),
    version: count("Version of the field's format"),
    trusted: truth(
      "Counted in auth: the topmost field, and fields of the same host or organization below it without a hop from outside between them",
    ),
    results: list(MethodResult, "Results in the order of the field; empty for none"),
    malformed: truth("The field does not conform to RFC 8601"),
  },
  "One Authentication-Results field",
);

const Verdict = {
  result: text("Result, e.g. pass"),
  reason: Nullable(text("Reason or comment on the result; null for none")),
};

const Dkim = record(
  {
    ...Verdict,
    domain: Nullable(text("Signing domain: header.d, otherwise the domain of header.i")),
    selector: Nullable(text("header.s")),
    identity: Nullable(text("header.i")),
  },
  "Result of one DKIM signature",
);

/** Authentication results of the receiver. */
export const Auth = record(
  {
    authserv_id: Nullable(
      text("Host that wrote the results: the authserv-id of the topmost Authentication-Results field"),
    ),
    confirmed: Nullable(
      truth(
        "That host, or another host of its organization, received the message in the newest hop or in a hop next to its results; false: the results may be forged; null: the names do not decide",
      ),
    ),
    spf: Nullable(
      record(
        {
          ...Verdict,
          domain: Nullable(text("Checked domain: of the envelope sender, otherwise of HELO")),
          scope: Nullable(word(["mailfrom", "helo"], "Checked identity")),
          ip: Nullable(text("Client address; null if the receiver did not record it")),
          source: word(["authentication-results", "received-spf"], "Field with this result"),
        },
        "SPF (RFC 7208); null if the receiver gives no result",
      ),
    ),
    dkim: list(Dkim, "DKIM (RFC 6376), one entry for each signature that the receiver checked"),
    dmarc: Nullable(
      record(
        {
          ...Verdict,
          domain: Nullable(text("header.from")),
          policy: Nullable(text("Policy of the sender's domain (p=); null if the receiver did not record it")),
          disposition: Nullable(text("Action of the receiver (dis=, action=); null if it did not record it")),
        },
        "DMARC; null if the receiver gives no result",
      ),
    ),
    arc: Nullable(record(Verdict, "ARC (RFC 8617); null if the receiver gives no result")),
    others: list(record({ method: text("Method"), ...Verdict }, "Result"), "Results of other methods"),
  },
  "Results of the receiving host. Anyone can write such fields, so trust only those of your own provider",
);

/** One Received-SPF field. */
export const ReceivedSpf = record(
  {
    result: text("Result, e.g. pass"),
    comment: Nullable(text("Comment in parentheses")),
    client_ip: Nullable(text("client-ip")),
    envelope_from: Nullable(text("envelope-from")),
    helo: Nullable(text("helo")),
    receiver: Nullable(text("receiver")),
    identity: Nullable(text("identity: mailfrom or helo")),
    mechanism: Nullable(text("mechanism that matched")),
    problem: Nullable(text("problem")),
  },
  "One Received-SPF field",
);

/** Result of today's SPF record for the address that delivered the message. */
export const SpfNow = record(
  {
    result: word(
      ["none", "neutral", "pass", "fail", "softfail", "temperror", "permerror"],
      "Result of SPF today (RFC 7208); temperror: a DNS lookup failed; permerror: the record is invalid",
    ),
    ip: text("Address that delivered the message to the receiver's organization"),
    hop: count("n of the hop with this address"),
    mail_from: Nullable(text("Envelope sender; null for a bounce, whose sender is empty")),
    helo: Nullable(text("HELO or EHLO name of the delivering host")),
    identity: word(["mailfrom", "helo"], "Checked identity: helo if the envelope sender is empty"),
    domain: text("Checked domain"),
    record: Nullable(text("SPF record of that domain; null if there is none or the lookup failed")),
    mechanism: Nullable(text("Mechanism that matched, verbatim; null for none")),
    explanation: Nullable(text("The domain's explanation of a fail (exp=); null for none")),
    reason: Nullable(text("Why the result is none, temperror or permerror; null otherwise")),
    lookups: count("Number of terms that caused a DNS lookup; 10 are allowed"),
    void_lookups: count("Number of DNS lookups that returned no records; 2 are allowed"),
    claimed: Nullable(text("SPF result in the headers (auth.spf); null if they have none")),
    agrees: Nullable(
      truth("Whether today's result equals the one in the headers; null if they have none or a DNS lookup failed"),
    ),
  },
  "SPF evaluated now with today's DNS records; null if the address or the envelope sender is unknown (see limitations)",
);

const Aligned = {
  domain: Nullable(text("Domain that the method authenticates")),
  result: Nullable(text("Result of the receiver; null if it gives none")),
  strict: Nullable(truth("Equal to the domain of From; null if a domain is unknown")),
  relaxed: Nullable(truth("Same registrable domain as From; null if a domain is unknown")),
};

/** Alignment of the domain in From with the authenticated domains. */
export const Alignment = record(
  {
    from_domain: Nullable(text("Domain of the address in From")),
    registrable_domain: Nullable(text("Its registrable domain by the public suffix list")),
    spf: record(Aligned, "Domain of the envelope sender, compared with From"),
    dkim: list(record(Aligned, "Domain of one signature, compared with From"), "Signatures"),
    aligned: Nullable(
      truth(
        "SPF or a signature passed with relaxed alignment, as DMARC requires; null if the receiver gives no results",
      ),
    ),
  },
  "Whether the domain in From is the domain that SPF and DKIM authenticate",
);

const SIGNATURE = {
  d: Nullable(text("Signing domain")),
  s: Nullable(text("Selector: the key is at <s>._domainkey.<d>")),
  a: Nullable(text("Algorithm, e.g. rsa-sha256")),
  c: text("Canonicalization, header/body"),
  t: Nullable(text("Time of signing, ISO 8601 UTC")),
  x: Nullable(text("Time of expiry, ISO 8601 UTC")),
  h: texts("Signed fields in lower case; repeats protect against added fields"),
  bh: Nullable(text("Hash of the body, base64")),
  b: Nullable(text("Signature, base64")),
};

/** One DKIM-Signature field. */
export const DkimSignature = record(
  {
    ...SIGNATURE,
    i: Nullable(text("Identity of the signer")),
    l: Nullable(integer("Number of bytes of the body that are signed; null for the whole body")),
    expired: Nullable(truth("The time in x= had passed when the message arrived (see arrival); null without x=")),
    result: Nullable(text("Result of the receiver for this signature; null if none can be assigned to it")),
    oversigned: texts("Fields whose absence, or whose second occurrence, is signed too"),
    unsigned: texts("Unsigned fields that a reader sees or that control replies"),
  },
  "One DKIM-Signature field",
);

const ArcSet = record(
  {
    i: count("Instance, 1 = the oldest"),
    cv: Nullable(text("Sealer's result for the chain before this set: none, pass or fail")),
    sealer: Nullable(text("d= of the seal")),
    selector: Nullable(text("s= of the seal")),
    algorithm: Nullable(text("a= of the seal")),
    sealed_at: Nullable(text("t= of the seal, ISO 8601 UTC")),
    signed_fields: texts("h= of the message signature"),
    authserv_id: Nullable(text("Host whose results are sealed")),
    results: list(record({ method: text("Method"), result: text("Result") }, "Result"), "Sealed results at that hop"),
    complete: truth("The set has its three fields once each"),
  },
  "One ARC set",
);

/** The Authenticated Received Chain. */
export const ArcChain = record(
  {
    instances: count("Highest instance"),
    valid_structure: truth("All sets from 1 to the highest are complete with a valid cv=; signatures are not verified"),
    cv: Nullable(text("cv= of the newest seal")),
    sets: list(ArcSet, "Sets, oldest first"),
  },
  "Authenticated Received Chain (RFC 8617); null without one",
);
