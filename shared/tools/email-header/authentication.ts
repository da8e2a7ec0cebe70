import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

const Property = record(
  {
    type: text("Part of the message or session, e.g. smtp, header, policy; empty for words outside the standard"),
    property: text("E.g. mailfrom, d, from"),
    value: text("Its value"),
  },
  "ptype.property=value",
);

const MethodResult = record(
  {
    method: text("Method: spf, dkim, dmarc, arc, iprev, auth, ..."),
    result: text("Verdict: pass, fail, softfail, neutral, none, temperror, permerror, policy, ..."),
    reason: Nullable(text("Why, where the field says")),
    properties: list(Property, "What was checked"),
    comments: texts("Remarks in parentheses"),
  },
  "One method's verdict",
);

/** One Authentication-Results field. */
export const AuthenticationResults = record(
  {
    authserv_id: Nullable(text("Who says so; null where the field does not name anyone")),
    version: count("Version of the field's format"),
    trusted: truth(
      "Counted in auth: the topmost field, and those of its name or organisation below it with no hop from outside between",
    ),
    results: list(MethodResult, "Verdicts in the field's order; empty: none"),
    malformed: truth("Something in it is not as RFC 8601 has it"),
  },
  "One Authentication-Results field",
);

const Verdict = {
  result: text("Verdict, e.g. pass"),
  reason: Nullable(text("Reason or remark that goes with it")),
};

const Dkim = record(
  {
    ...Verdict,
    domain: Nullable(text("Signing domain: header.d, else that of header.i")),
    selector: Nullable(text("header.s")),
    identity: Nullable(text("header.i")),
  },
  "Verdict on one DKIM signature",
);

/** The receiver's word. */
export const Auth = record(
  {
    authserv_id: Nullable(text("Host whose word this is: the authserv-id of the topmost Authentication-Results field")),
    confirmed: Nullable(
      truth(
        "That host, or another of its organisation, received the message: last of all, or in a hop next to its results; false: the results may have come with the message; null: the names do not tell",
      ),
    ),
    spf: Nullable(
      record(
        {
          ...Verdict,
          domain: Nullable(text("Domain that was checked: of the envelope sender, else of HELO")),
          scope: Nullable(word(["mailfrom", "helo"], "Which of the two identities")),
          ip: Nullable(text("Client address, where the receiver noted it")),
          source: word(["authentication-results", "received-spf"], "Field this is from"),
        },
        "SPF (RFC 7208); null where the receiver says nothing",
      ),
    ),
    dkim: list(Dkim, "DKIM (RFC 6376), one entry for each signature the receiver looked at"),
    dmarc: Nullable(
      record(
        {
          ...Verdict,
          domain: Nullable(text("header.from")),
          policy: Nullable(text("Policy the sender's domain asks for (p=), where the receiver noted it")),
          disposition: Nullable(text("What the receiver did, where it noted it (dis=, action=)")),
        },
        "DMARC; null where the receiver says nothing",
      ),
    ),
    arc: Nullable(record(Verdict, "ARC (RFC 8617); null where the receiver says nothing")),
    others: list(record({ method: text("Method"), ...Verdict }, "Verdict"), "Verdicts of other methods"),
  },
  "What the receiving host found. Anyone can write such fields: only the word of your own provider counts",
);

/** One Received-SPF field. */
export const ReceivedSpf = record(
  {
    result: text("Verdict, e.g. pass"),
    comment: Nullable(text("Remark in parentheses")),
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

/** SPF as it is published today, for the address that delivered the message. */
export const SpfNow = record(
  {
    result: word(
      ["none", "neutral", "pass", "fail", "softfail", "temperror", "permerror"],
      "What SPF says today (RFC 7208); temperror: the DNS did not answer; permerror: the record is invalid",
    ),
    ip: text("Address that delivered the message to the receiver's organisation"),
    hop: count("n of the hop that names this address"),
    mail_from: Nullable(text("Envelope sender; null for a bounce, whose sender is empty")),
    helo: Nullable(text("Name that the delivering host gave in HELO or EHLO")),
    identity: word(["mailfrom", "helo"], "Which of the two was checked: helo where the envelope sender is empty"),
    domain: text("Domain that was checked"),
    record: Nullable(text("SPF record of that domain; null where there is none or it could not be looked up")),
    mechanism: Nullable(text("Mechanism that matched, as written; null for none")),
    explanation: Nullable(text("What the domain says about a fail (exp=); null where it says nothing")),
    reason: Nullable(text("Why the result is none, temperror or permerror; null otherwise")),
    lookups: count("Terms of the record that asked the DNS; at most 10 are allowed"),
    void_lookups: count("Look-ups that found nothing; at most 2 are allowed"),
    claimed: Nullable(text("SPF result that the headers give (auth.spf); null where they give none")),
    agrees: Nullable(
      truth("Whether today's result is the one in the headers; null where they give none or the DNS did not answer"),
    ),
  },
  "SPF evaluated now, as the DNS publishes it today; null where address or envelope sender are not known (see limitations)",
);

const Aligned = {
  domain: Nullable(text("Domain that the method vouches for")),
  result: Nullable(text("The receiver's verdict; null where it gives none")),
  strict: Nullable(truth("Equal to the domain of From; null where one is not known")),
  relaxed: Nullable(truth("Of the same registrable domain as From; null where one is not known")),
};

/** Who is shown and who is proven. */
export const Alignment = record(
  {
    from_domain: Nullable(text("Domain of the address in From")),
    registrable_domain: Nullable(text("Its registrable domain by the public suffix list")),
    spf: record(Aligned, "The envelope sender's domain beside that of From"),
    dkim: list(record(Aligned, "One signature's domain beside that of From"), "Signatures"),
    aligned: Nullable(
      truth(
        "SPF or a signature passed, in relaxed alignment: what DMARC asks; null where the receiver gives no verdicts",
      ),
    ),
  },
  "Whether the domain shown in From is the one that SPF and DKIM vouch for",
);

const SIGNATURE = {
  d: Nullable(text("Signing domain")),
  s: Nullable(text("Selector: the key stands at <s>._domainkey.<d>")),
  a: Nullable(text("Algorithm, e.g. rsa-sha256")),
  c: text("Canonicalization, header/body"),
  t: Nullable(text("When it was made, ISO 8601 UTC")),
  x: Nullable(text("When it expires, ISO 8601 UTC")),
  h: texts("Signed fields in lower case; repeats guard against added ones"),
  bh: Nullable(text("Hash of the body, base64")),
  b: Nullable(text("Signature, base64")),
};

/** One DKIM-Signature field. */
export const DkimSignature = record(
  {
    ...SIGNATURE,
    i: Nullable(text("Identity the signer speaks for")),
    l: Nullable(integer("Bytes of the body that are signed; null: all of it")),
    expired: Nullable(truth("The time in x= had passed when the message arrived (see arrival); null without x=")),
    result: Nullable(text("The receiver's verdict on it; null where none can be told to be its own")),
    oversigned: texts("Fields whose absence, or of a second one, is signed too"),
    unsigned: texts("Fields of the message that a reader sees or that steer an answer, and that are not signed"),
  },
  "One DKIM-Signature field",
);

const ArcSet = record(
  {
    i: count("Instance, 1 = the oldest"),
    cv: Nullable(text("Sealer's word on the chain before: none, pass or fail")),
    sealer: Nullable(text("d= of the seal")),
    selector: Nullable(text("s= of the seal")),
    algorithm: Nullable(text("a= of the seal")),
    sealed_at: Nullable(text("t= of the seal, ISO 8601 UTC")),
    signed_fields: texts("h= of the message signature"),
    authserv_id: Nullable(text("Host whose results are sealed")),
    results: list(
      record({ method: text("Method"), result: text("Verdict") }, "Verdict"),
      "Verdicts at that hop, as sealed",
    ),
    complete: truth("All three fields are there, each once"),
  },
  "One ARC set",
);

/** The Authenticated Received Chain. */
export const ArcChain = record(
  {
    instances: count("Highest instance"),
    valid_structure: truth("Sets 1 to the highest are all complete and their cv= fits; signatures are not verified"),
    cv: Nullable(text("cv= of the newest seal")),
    sets: list(ArcSet, "Sets, the oldest first"),
  },
  "Authenticated Received Chain (RFC 8617); null without one",
);
