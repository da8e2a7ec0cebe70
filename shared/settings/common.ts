import { nameServer } from "#shared/settings/address.ts";
import { choice, list, path } from "#shared/settings/kinds.ts";
import { cidr, dnsName, url } from "#shared/settings/network.ts";
import { row } from "#shared/settings/row.ts";

const both = row("both");

/** Ordered from the fewest lines to the most. */
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

/** Settings that the control plane and the agents use. */
export const COMMON_SETTINGS = {
  dataDir: both("VANTAGE_DATA_DIR", path("a directory"), {
    default: "./.vantage",
    meaning: "embedded database and generated keys; npm start and deploy/vantage use the one in the clone",
  }),
  dnsServers: both("VANTAGE_DNS_SERVERS", list(nameServer, "IP address[:port]"), {
    absent: "the system's",
    meaning: "DNS servers for lookups",
  }),
  allowTargets: both("VANTAGE_ALLOW_TARGETS", list(cidr, "address ranges such as 10.0.0.0/8"), {
    absent: "none",
    meaning: "private ranges that every user of the agent can reach",
  }),
  allowNames: both("VANTAGE_ALLOW_NAMES", list(dnsName, "name suffixes such as corp.internal"), {
    absent: "none",
    meaning: "suffixes of special names that every user of the agent can reach",
  }),
  contactUrl: both("VANTAGE_CONTACT_URL", url("an http, https or mailto URL", ["http:", "https:", "mailto:"]), {
    absent: "the project's",
    meaning: "contact for owners of checked sites; part of the User-Agent",
  }),
  optOutFile: both("VANTAGE_OPT_OUT_FILE", path("a file of targets that are never checked"), {
    absent: "none",
    meaning: "targets whose owners opted out of checks",
  }),
  logLevel: both("VANTAGE_LOG_LEVEL", choice(...LOG_LEVELS), {
    default: "info",
    meaning: "least severe level that is logged; info logs one line per request",
  }),
};
