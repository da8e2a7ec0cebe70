import { describe, expect, it } from "vitest";
import { describeCause } from "#control-plane/outages/incidents/cause/describe.ts";
import { ALL, failingOf, targetWith, type CauseCase } from "#test/control-plane/outages/incidents/cause/cases.ts";

const CASES: CauseCase[] = [
  [
    "a wrong status everywhere",
    [[ALL, "response", "unexpected_status", "expected 200, got 503"]],
    "http_status",
    "HTTP 503 instead of 200 from eu-west, us-east and ap-south",
  ],
  [
    "a wrong status in a range",
    [["eu-west", "response", "unexpected_status", "expected 200-299, got 404"]],
    "http_status",
    "HTTP 404 instead of 200-299 from eu-west",
  ],
  [
    "a wrong status of several expected ones",
    [["eu-west us-east", "response", "unexpected_status", "expected 200, 204, got 500"]],
    "http_status",
    "HTTP 500 instead of 200, 204 from eu-west and us-east",
  ],
  [
    "a wrong status whose message has another form",
    [["eu-west", "response", "unexpected_status", "weird"]],
    "http_status",
    "Unexpected HTTP status from eu-west",
  ],
  [
    "a redirect that is expected and was followed",
    [
      [
        "eu-west",
        "response",
        "unexpected_status",
        "expected 301, got 200 after a redirect was followed; with follow false the first response counts",
      ],
    ],
    "http_status",
    "HTTP 200 instead of 301 from eu-west, after a redirect was followed; with follow false the first response counts",
  ],
  [
    "two different wrong statuses",
    [
      ["eu-west us-east", "response", "unexpected_status", "expected 200, got 502"],
      ["ap-south", "response", "unexpected_status", "expected 200, got 503"],
    ],
    "http_status",
    "HTTP 502 instead of 200 from eu-west and us-east; HTTP 503 instead of 200 from ap-south",
  ],
  [
    "a certificate after a redirect",
    [
      [
        "eu-west",
        "tls",
        "expired",
        "after 1 redirect, at https://www.example.org/shop: www.example.org: certificate expired 2 days ago",
      ],
    ],
    "tls_certificate_expired",
    "Certificate not trusted from eu-west after a redirect to www.example.org: certificate expired 2 days ago",
  ],
  [
    "a certificate after a redirect, in the short form",
    [
      [
        "eu-west",
        "tls",
        "hostname_mismatch",
        "after a redirect, at www.example.org:8443: the certificate is for example.net",
      ],
    ],
    "tls_certificate_hostname_mismatch",
    "Certificate not trusted from eu-west after a redirect to www.example.org: the certificate is for example.net",
  ],
  [
    "a name that a redirect leads to",
    [["eu-west", "dns", "nxdomain", "after 2 redirects, at http://gone.example/a: The name does not exist (NXDOMAIN)"]],
    "dns_nxdomain",
    "DNS: NXDOMAIN for gone.example from eu-west after a redirect",
  ],
  [
    "a port that a redirect leads to",
    [["eu-west", "connect", "refused", "after 1 redirect, at http://www.example.org/: refused"]],
    "connect_refused",
    "Connection refused from eu-west after a redirect to www.example.org (port 80)",
  ],
  [
    "a redirect within the host",
    [
      [
        "eu-west",
        "response",
        "closed",
        "after 1 redirect, at https://shop.example.com/b: shop.example.com: the server closed the connection",
      ],
    ],
    "response_closed",
    "Connection closed before the answer from eu-west",
  ],
  [
    "a redirect loop",
    [
      [
        "eu-west",
        "response",
        "redirect_loop",
        "after 3 redirects, at https://shop.example.com/: the redirects form a loop",
      ],
    ],
    "redirect_loop",
    "Redirect loop from eu-west",
  ],
  [
    "a redirect that cannot be followed",
    [["eu-west us-east", "response", "bad_location", "the redirect (302) leads to ftp://files.example.com/"]],
    "bad_location",
    "Redirect cannot be followed from eu-west and us-east: the redirect (302) leads to ftp://files.example.com/",
  ],
  [
    "too many redirects",
    [["eu-west", "response", "too_many_redirects", "x"]],
    "too_many_redirects",
    "Too many redirects from eu-west",
  ],
  [
    "a missing keyword",
    [["eu-west us-east", "response", "keyword_missing", 'the page does not contain "Welcome"']],
    "keyword_missing",
    'Keyword not found from eu-west and us-east: the page does not contain "Welcome"',
  ],
  [
    "an unwanted keyword",
    [["eu-west", "response", "keyword_present", 'the page contains "Error"']],
    "keyword_present",
    'Unwanted keyword found from eu-west: the page contains "Error"',
  ],
  [
    "a condition on JSON",
    [["eu-west", "response", "json_mismatch", '$.status is "degraded", expected "ok"']],
    "json_mismatch",
    'JSON condition not met from eu-west: $.status is "degraded", expected "ok"',
  ],
  [
    "a body that is cut short",
    [["eu-west", "response", "incomplete", "the response ended after 8 of 10,000 bytes"]],
    "response_incomplete",
    "Incomplete response from eu-west: the response ended after 8 of 10,000 bytes",
  ],
  [
    "a body that is cut short at different places",
    [
      ["eu-west", "response", "incomplete", "the response ended after 8 of 10,000 bytes"],
      ["us-east", "response", "incomplete", "the response ended after 9,000 of 10,000 bytes"],
    ],
    "response_incomplete",
    "Incomplete response from eu-west and us-east: the response ended after 8 of 10,000 bytes",
  ],
  [
    "a target whose name has a meaning in replacements",
    [["eu-west", "dns", "nxdomain", "x"]],
    "dns_nxdomain",
    "DNS: NXDOMAIN for $&$`x from eu-west",
    { url: "$&$`x" },
  ],
  [
    "a connection that is lost",
    [["eu-west", "response", "reset", "shop.example.com: the connection was lost"]],
    "response_reset",
    "Connection lost before the answer from eu-west",
  ],
  [
    "an answer that is not HTTP",
    [
      [
        "eu-west",
        "response",
        "not_http",
        'shop.example.com: the answer is not HTTP/1 but SSH; it starts with "SSH-2.0"',
      ],
    ],
    "response_not_http",
    'Bad response from eu-west: the answer is not HTTP/1 but SSH; it starts with "SSH-2.0"',
  ],
  [
    "a reason that no release knows",
    [["eu-west", "request", "Über Cool!", "It went wrong."]],
    "request_ber_cool",
    "Request failed from eu-west: It went wrong",
  ],
  ["a reason without a letter", [["eu-west", "request", "!!!", ""]], "request_failed", "Request failed from eu-west"],
];

describe("the cause of an answer that is not as expected", () => {
  it.each<CauseCase>(CASES)("%s is one sentence", (_what, faults, code, message, target) => {
    expect(describeCause(targetWith(target), failingOf(faults))).toEqual({ code, message });
  });
});
