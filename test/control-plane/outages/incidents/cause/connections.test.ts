import { describe, expect, it } from "vitest";
import { describeCause } from "#control-plane/outages/incidents/cause/describe.ts";
import {
  ALL,
  failingOf,
  REFUSED,
  targetWith,
  type CauseCase,
} from "#test/control-plane/outages/incidents/cause/cases.ts";

const PORT_5432 = { checkType: "port", url: "db.example.com", port: 5432 };

const CASES: CauseCase[] = [
  [
    "a refused connection",
    [["eu-west", "connect", "refused", REFUSED]],
    "connect_refused",
    "Connection refused from eu-west (port 443)",
  ],
  [
    "a refused connection at several addresses of one name",
    [
      ["eu-west", "connect", "refused", "203.0.113.9:443: no service"],
      ["us-east", "connect", "refused", "[2001:db8::9]:443: no service"],
      ["ap-south", "connect", "refused", "203.0.113.10:443: no service"],
    ],
    "connect_refused",
    "Connection refused from eu-west, us-east and ap-south (port 443)",
  ],
  [
    "a refused connection at another port",
    [["eu-west", "connect", "refused", "203.0.113.9:8443: no service"]],
    "connect_refused",
    "Connection refused from eu-west (port 8443)",
    { url: "https://shop.example.com:8443/" },
  ],
  [
    "a refused connection whose message names no port",
    [["eu-west", "connect", "refused", "The connection was refused"]],
    "connect_refused",
    "Connection refused from eu-west (port 80)",
    { url: "http://shop.example.com/" },
  ],
  [
    "a closed port",
    [["eu-west us-east", "connect", "refused", "port 5432 of 203.0.113.9 is closed: it refuses connections"]],
    "connect_refused",
    "Connection refused from eu-west and us-east (port 5432)",
    PORT_5432,
  ],
  [
    "a filtered port",
    [[ALL, "connect", "timeout", "port 5432 of 203.0.113.9: no answer"]],
    "connect_timeout",
    "No connection within 15 s from eu-west, us-east and ap-south (port 5432)",
    PORT_5432,
  ],
  [
    "a target without a port",
    [["eu-west", "connect", "refused", "refused"]],
    "connect_refused",
    "Connection refused from eu-west",
    { checkType: "ping", url: "example.com" },
  ],
  [
    "a connection that times out",
    [["eu-west", "connect", "timeout", "203.0.113.9:443: connection timed out"]],
    "connect_timeout",
    "No connection within 15 s from eu-west (port 443)",
  ],
  [
    "a connection that is reset",
    [["eu-west", "connect", "reset", "203.0.113.9:443: reset"]],
    "connect_reset",
    "Connection reset from eu-west (port 443)",
  ],
  [
    "a firewall",
    [["eu-west", "connect", "communication_prohibited", "192.0.2.1 reports it"]],
    "connect_communication_prohibited",
    "Communication prohibited from eu-west",
  ],
  [
    "a network that a router cannot reach",
    [["eu-west", "connect", "network_unreachable", "port 443 of 203.0.113.9: not reachable (network_unreachable)"]],
    "connect_network_unreachable",
    "Network unreachable from eu-west",
  ],
  [
    "a host that does not reply to ping",
    [
      ["eu-west", "connect", "timeout", "no answer from 203.0.113.9 to 3 echo requests"],
      ["us-east", "connect", "timeout", "no answer from 2001:db8::9 to 3 TCP handshakes with port 443"],
    ],
    "ping_timeout",
    "No reply to ping from eu-west and us-east",
    { checkType: "ping", url: "example.com" },
  ],
  [
    "a host that a router cannot reach",
    [["eu-west us-east", "connect", "unreachable", "203.0.113.9:443: a router reports that the host is unreachable"]],
    "connect_unreachable",
    "Host unreachable from eu-west and us-east",
  ],
  [
    "another failure of a connection",
    [["eu-west", "connect", "connection_failed", "The connection failed: EWEIRD"]],
    "connect_connection_failed",
    "Connection failed from eu-west: The connection failed: EWEIRD",
  ],
  [
    "no answer in two locations",
    [["eu-west us-east", "response", "timeout", "shop.example.com: the response did not complete in time"]],
    "timeout",
    "No answer within 15 s from eu-west and us-east",
  ],
  [
    "a request that cannot be sent",
    [["eu-west", "request", "timeout", "shop.example.com: the request could not be sent in time"]],
    "timeout",
    "No answer within 15 s from eu-west",
  ],
  [
    "no answer by another time limit",
    [["eu-west", "response", "timeout", "late"]],
    "timeout",
    "No answer within 3 s from eu-west",
    { timeoutSeconds: 3 },
  ],
  [
    "the same timeout with different words",
    [
      ["eu-west", "response", "timeout", "no answer by the deadline"],
      ["us-east", "response", "timeout", "shop.example.com: the response did not complete in time"],
    ],
    "timeout",
    "No answer within 15 s from eu-west and us-east",
  ],
];

describe("the cause of a connection that fails", () => {
  it.each<CauseCase>(CASES)("%s is one sentence", (_what, faults, code, message, target) => {
    expect(describeCause(targetWith(target), failingOf(faults))).toEqual({ code, message });
  });
});
