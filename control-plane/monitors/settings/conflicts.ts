import { domainToASCII } from "node:url";
import { mostHeight, PICTURE } from "#shared/monitor-checks/monitor-visual.ts";
import { parseJsonPath } from "#shared/json-path/parse.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { registeredDomain } from "#shared/registrable-domain.ts";
import type { MonitorDraft } from "#control-plane/kinds/monitor.ts";
import { readTlsTarget } from "#control-plane/kinds/tls-target.ts";

/** Checks the rules between fields, except the locations. Returns the first problem; null if there is none. */
export function findConflict(draft: MonitorDraft): FieldProblem | null {
  return typeConflict(draft) ?? requestConflict(draft) ?? conditionConflict(draft);
}

/** The problem of a monitor whose check type needs a target. */
export const MISSING_URL: FieldProblem = { field: "url", reason: "required", message: "is required" };

function problem(field: string, reason: FieldProblem["reason"], message: string): FieldProblem {
  return { field, reason, message };
}

function typeConflict(draft: MonitorDraft): FieldProblem | null {
  const { check_type: type, url, keyword, port } = draft;
  if (type !== "heartbeat" && url === "") return MISSING_URL;
  if (type === "keyword" && keyword === null) {
    return problem("keyword", "required", "is required for check_type keyword: text to find in the body");
  }
  if (type === "port" && port === null) {
    return problem("port", "required", "is required for check_type port: the TCP port to check");
  }
  if (type === "ssl") return tlsConflict(url, port);
  if (type === "domain" && registeredDomain(hostOf(url)) === null) {
    return problem("url", "type", "must be a domain that is registered at a registry, such as example.org");
  }
  return type === "visual" ? visualConflict(draft) : null;
}

/** Minimum time limit of a visual check, in seconds: a browser has to start. */
const LEAST_VISUAL_SECONDS = 10;

function visualConflict({ timeout_seconds: seconds, locations, visual }: MonitorDraft): FieldProblem | null {
  if (seconds < LEAST_VISUAL_SECONDS) {
    const message = `must be at least ${LEAST_VISUAL_SECONDS} for check_type visual: a browser has to load the page`;
    return problem("timeout_seconds", "range", message);
  }
  if (locations.length > 1) {
    const message = "must have one item for check_type visual: pictures from different places differ";
    return problem("locations", "range", message);
  }
  if (visual === null) return null;
  const { viewport, full_page: isFull, ignore } = visual;
  if (viewport.width * viewport.height > PICTURE.maxPixels) {
    return problem("visual.viewport", "range", `must have at most ${PICTURE.maxPixels} pixels`);
  }
  const height = isFull ? mostHeight(viewport.width) : viewport.height;
  const outside = ignore.findIndex((one) => one.x + one.width > viewport.width || one.y + one.height > height);
  if (outside === -1) return null;
  return problem(
    `visual.ignore.${outside}`,
    "range",
    `must be inside the picture, which has ${isFull ? "at most " : ""}${viewport.width} x ${height} pixels`,
  );
}

function tlsConflict(url: string, port: number | null): FieldProblem | null {
  const target = readTlsTarget(url, port);
  if (target.ok) return null;
  return target.field === "url"
    ? problem("url", "type", "must be a host, host:port or https:// URL, without user name or password")
    : problem("port", "type", "must be the port of url, or be left out");
}

/** Removes what people type after a name: the final dot. */
function hostOf(url: string): string {
  return domainToASCII(url.trim().replace(/\.$/, ""));
}

function requestConflict({ method, body, keyword, json }: MonitorDraft): FieldProblem | null {
  if (body !== null && method !== "POST") return problem("body", "enum", "needs method POST; set it, or remove body");
  if (method === "HEAD" && keyword !== null) {
    return problem("method", "enum", "must be GET or POST for a keyword: a response to HEAD has no body");
  }
  if (method === "HEAD" && json !== null) {
    return problem("method", "enum", "must be GET or POST for a json condition: a response to HEAD has no body");
  }
  return null;
}

function conditionConflict({ json, dns }: MonitorDraft): FieldProblem | null {
  if (json !== null) {
    const path = parseJsonPath(json.path);
    if (!path.ok) return problem("json.path", "type", `must be a JSONPath (RFC 9535): ${path.message}`);
    if (json.op === "exists" && json.value !== null) {
      return problem("json.value", "type", "must be left out if op is exists");
    }
    if ((json.op === "less" || json.op === "greater") && typeof json.value !== "number") {
      return problem("json.value", "type", `must be a number if op is ${json.op}`);
    }
  }
  if (dns === null) return null;
  if (dns.op === "any" && dns.values.length > 0) {
    return problem("dns.values", "type", "must be left out if op is any");
  }
  if (dns.op !== "any" && dns.values.length === 0) {
    return problem("dns.values", "required", `must have at least one value if op is ${dns.op}`);
  }
  return null;
}

/** Checks the quorum against the locations, which are known later than the other fields. */
export function findQuorumConflict({ quorum, locations }: MonitorDraft): FieldProblem | null {
  if (quorum === "majority" || quorum <= locations.length) return null;

  return problem("quorum", "range", `must be majority or at most ${locations.length}, the number of locations`);
}
