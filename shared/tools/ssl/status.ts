import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

const STATUS = ["good", "revoked", "unknown"] as const;
const REASON =
  "unspecified, key_compromise, ca_compromise, affiliation_changed, superseded, cessation_of_operation, " +
  "certificate_hold, remove_from_crl, privilege_withdrawn, aa_compromise";
const FETCH_ERROR =
  "or why there is none: timeout, refused, unreachable, reset, ..., http_<code>, target_not_allowed, too_large, " +
  "incomplete, too_many_fetches, out_of_time";

/** Schema of the OCSP status: the stapled response, or else the responder's answer. */
export const Ocsp = record(
  {
    stapled: truth("The server stapled an OCSP response"),
    source: Nullable(word(["staple", "responder"], "Response that the fields below describe; null if there is none")),
    status: Nullable(
      word(STATUS, "Status in the response, valid or not: good, revoked, unknown; null if not about this certificate"),
    ),
    this_update: Nullable(text("Time at which the status was known to be correct, ISO 8601 UTC")),
    next_update: Nullable(text("Time by which newer information is available, ISO 8601 UTC")),
    produced_at: Nullable(text("Time at which the response was signed, ISO 8601 UTC")),
    responder_url: Nullable(
      text("Responder that was asked; null if none was, e.g. because a stapled response was enough"),
    ),
    signature_valid: Nullable(
      truth("Signed by the issuer or a delegate of it; null if not checked, or if the algorithm is unknown"),
    ),
    error: Nullable(
      text(
        "Why the response is not valid; null if it is: too_large, malformed, malformed_request, " +
          "internal_error, try_later, sig_required, unauthorized, other_certificate, unauthorized_signer, " +
          `bad_signature, unknown_algorithm, unknown_critical_extension, not_yet_valid, stale; ${FETCH_ERROR}`,
      ),
    ),
  },
  "Online certificate status (RFC 6960) of the server's certificate. Its absence is no fault: authorities abandon it",
);

const Crl = record(
  {
    url: text("URL of the list"),
    this_update: Nullable(text("Time of issue, ISO 8601 UTC; null if there is no list")),
    next_update: Nullable(
      text("Time by which a newer list is issued, ISO 8601 UTC; null if there is no list or no such time"),
    ),
    error: Nullable(
      text(
        "Why the list gives no status; null if it does: malformed, other_issuer, unauthorized_signer, bad_signature, " +
          "unknown_algorithm, not_yet_valid, stale, unknown_critical_extension, delta, indirect, other_scope, " +
          `some_reasons, too_many_entries, busy; ${FETCH_ERROR}`,
      ),
    ),
  },
  "Revocation list (RFC 5280 section 5) that was used; null if none was",
);

const Authority = Type.Object({
  subject: text("Distinguished name of the authority (RFC 4514)"),
  status: word(STATUS, "good, revoked, or unknown: it names no list, or the list gives no status"),
  reason: Nullable(text(`Reason for revocation: ${REASON}; null if not revoked, or if no reason is given`)),
  revoked_at: Nullable(text("Time of revocation, ISO 8601 UTC; null if not revoked")),
});

/** Schema of the revocation status. */
export const Revocation = record(
  {
    status: word(STATUS, "good, revoked, or unknown; an unknown status does not make the certificate untrusted"),
    method: Nullable(
      word(
        ["staple", "ocsp", "crl"],
        "Source of the status; they are tried in this order: staple, ocsp, crl; null if unknown",
      ),
    ),
    reason: Nullable(text(`Reason for revocation: ${REASON}; null if not revoked, or if no reason is given`)),
    revoked_at: Nullable(text("Time of revocation, ISO 8601 UTC; null if not revoked")),
    crl: Nullable(Crl),
    authorities: list(
      Authority,
      "Authorities between the certificate and its root, nearest first, checked by lists within three fetches in total",
    ),
  },
  "Revocation of the certificate and of the authorities above it; any revoked one makes the certificate untrusted",
);

const Sct = Type.Object({
  log_id: text("Id of the log: SHA-256 of its key, base64"),
  log_name: Nullable(text("Name of the log; null if it is not in the operator's list of logs, or there is no list")),
  log_operator: Nullable(text("Operator of the log; null if unknown")),
  log_state: Nullable(text("State of the log in the list: usable, readonly, retired, rejected, ...; null if unknown")),
  timestamp: Nullable(text("Time at which the log accepted the certificate, ISO 8601 UTC; null if out of range")),
  source: word(
    ["certificate", "tls", "ocsp"],
    "Source: the certificate, a TLS extension, or the stapled OCSP response",
  ),
  signature_valid: Nullable(
    truth("The log signed it for this certificate; null if the log's key or the certificate's issuer is unknown"),
  ),
});

/** Schema of signed certificate timestamps. */
export const Scts = list(Sct, "Signed certificate timestamps (RFC 6962), up to 20 from each source");

/** Schema of certificate transparency. */
export const Ct = record(
  {
    count: count("Number of signed certificate timestamps"),
    scts: Scts,
    logs: count("Number of different logs"),
    operators: Nullable(texts("Different operators of these logs; null if there is no list of logs")),
  },
  "Certificate transparency. Logs are named from the operator's list (VANTAGE_CT_LOG_LIST); there is no built-in list",
);
