import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

const STATUS = ["good", "revoked", "unknown"] as const;
const REASON =
  "unspecified, key_compromise, ca_compromise, affiliation_changed, superseded, cessation_of_operation, " +
  "certificate_hold, remove_from_crl, privilege_withdrawn, aa_compromise";
const FETCH_ERROR =
  "or why none came: timeout, refused, unreachable, reset, ..., http_<code>, target_not_allowed, too_large, incomplete, " +
  "too_many_fetches, out_of_time";

/** What the server staples, or else its responder answers. */
export const Ocsp = record(
  {
    stapled: truth("The server stapled an OCSP response"),
    source: Nullable(word(["staple", "responder"], "Which response the fields below describe; null: there is none")),
    status: Nullable(
      word(STATUS, "Status it gives, relied upon or not: good, revoked, unknown; null: none of this certificate"),
    ),
    this_update: Nullable(text("When the status was known to hold, ISO 8601 UTC")),
    next_update: Nullable(text("When a newer one will be there, ISO 8601 UTC")),
    produced_at: Nullable(text("When the response was signed, ISO 8601 UTC")),
    responder_url: Nullable(text("Responder that was asked; null: none was, as with a staple that settles it")),
    signature_valid: Nullable(
      truth("Signed by the issuer, or by whom the issuer let sign; null: not come to, or an algorithm not known here"),
    ),
    error: Nullable(
      text(
        "Why the response cannot be relied upon, null where it can: too_large, malformed, malformed_request, " +
          "internal_error, try_later, sig_required, unauthorized, other_certificate, unauthorized_signer, " +
          `bad_signature, unknown_algorithm, unknown_critical_extension, not_yet_valid, stale; ${FETCH_ERROR}`,
      ),
    ),
  },
  "Online certificate status (RFC 6960) of the server's certificate. None at all is no fault: authorities give it up",
);

const Crl = record(
  {
    url: text("Where the list was fetched"),
    this_update: Nullable(text("When it was made, ISO 8601 UTC; null: no list")),
    next_update: Nullable(text("When a newer one will be there, ISO 8601 UTC; null: no list, or it does not say")),
    error: Nullable(
      text(
        "Why it tells nothing, null where it does: malformed, other_issuer, unauthorized_signer, bad_signature, " +
          "unknown_algorithm, not_yet_valid, stale, unknown_critical_extension, delta, indirect, other_scope, " +
          `some_reasons, too_many_entries, busy; ${FETCH_ERROR}`,
      ),
    ),
  },
  "Revocation list (RFC 5280 section 5) that was looked into; null: none was",
);

const Authority = Type.Object({
  subject: text("Distinguished name of the authority (RFC 4514)"),
  status: word(STATUS, "good, revoked, or unknown: it names no list, or the list told nothing"),
  reason: Nullable(text(`Why it was revoked: ${REASON}; null: not revoked, or not said`)),
  revoked_at: Nullable(text("When it was revoked, ISO 8601 UTC; null: it is not")),
});

/** Revocation as far as it was asked about. */
export const Revocation = record(
  {
    status: word(STATUS, "good, revoked, or unknown: nobody could tell; it fails soft"),
    method: Nullable(
      word(
        ["staple", "ocsp", "crl"],
        "Where the status is from, asked in this order: staple, ocsp, crl; null: unknown",
      ),
    ),
    reason: Nullable(text(`Why it was revoked: ${REASON}; null: not revoked, or not said`)),
    revoked_at: Nullable(text("When it was revoked, ISO 8601 UTC; null: it is not")),
    crl: Nullable(Crl),
    authorities: list(
      Authority,
      "Authorities between the certificate and its root, nearest first, by their lists as far as three fetches go",
    ),
  },
  "Whether the certificate was revoked, and the authorities above it; one revoked makes it untrusted",
);

const Sct = Type.Object({
  log_id: text("Id of the log: SHA-256 of its key, base64"),
  log_name: Nullable(text("Name of the log; null: not in the operator's list of logs, or there is none")),
  log_operator: Nullable(text("Who runs it; null likewise")),
  log_state: Nullable(text("usable, readonly, retired, rejected, ... by that list; null likewise")),
  timestamp: Nullable(text("When the log took the certificate, ISO 8601 UTC; null: no time")),
  source: word(["certificate", "tls", "ocsp"], "How it came: in the certificate, by a TLS extension, in the staple"),
  signature_valid: Nullable(truth("The log made it for this certificate; null: the log's key is not known")),
});

/** Signed certificate timestamps of any source. */
export const Scts = list(Sct, "Signed certificate timestamps (RFC 6962), at most 20 of each source");

/** Proofs of publication. */
export const Ct = record(
  {
    count: count("Signed certificate timestamps seen"),
    scts: Scts,
    logs: count("Different logs among them"),
    operators: Nullable(texts("Different operators of those logs; null: there is no list of logs")),
  },
  "Certificate transparency. Logs are named by the operator's list (VANTAGE_CT_LOG_LIST); none is built in",
);
