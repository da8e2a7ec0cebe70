import { describe, expect, it } from "vitest";
import { publicCause } from "#control-plane/outages/incidents/cause/public-cause.ts";

describe("what strangers read about a cause", () => {
  it.each([
    ["connect_refused", "The service does not answer"],
    ["timeout", "The service does not answer"],
    ["ping_timeout", "The service does not answer"],
    ["response_closed", "The service does not answer"],
    ["tls_handshake", "The service does not answer"],
    ["http_status", "The service answers with an error"],
    ["keyword_missing", "The service answers with an error"],
    ["json_mismatch", "The service answers with an error"],
    ["response_too_large", "The service answers with an error"],
    ["tls_certificate_expired", "Its certificate is not valid"],
    ["tls_certificate_hostname_mismatch", "Its certificate is not valid"],
    ["dns_nxdomain", "Its name cannot be looked up"],
    ["dns_dnssec_bogus", "Its name cannot be looked up"],
    ["dns_record_missing", "Its DNS records are not as expected"],
    ["response_redemption_period", "Its domain is not active"],
    ["heartbeat_late", "A scheduled job did not report"],
    ["heartbeat_failed", "A scheduled job did not report"],
    ["unknown", "The service does not work as expected"],
    ["db_prod_01_corp_internal", "The service does not work as expected"],
    ["constructor", "The service does not work as expected"],
  ])("depends on its code alone: %s", (code, words) => {
    expect(publicCause(code)).toBe(words);
  });
});
