import { check } from "#shared/tools/check.ts";
import { cookie } from "#shared/tools/cookie.ts";
import { cors } from "#shared/tools/cors.ts";
import { csp } from "#shared/tools/csp.ts";
import type { Contract } from "#shared/tools/define.ts";
import { dns } from "#shared/tools/dns.ts";
import { health } from "#shared/tools/health.ts";
import { ip } from "#shared/tools/ip.ts";
import { mixedContent } from "#shared/tools/mixed-content.ts";
import { ogPreview } from "#shared/tools/og-preview.ts";
import { ping } from "#shared/tools/ping.ts";
import { schema } from "#shared/tools/schema.ts";
import { ssl } from "#shared/tools/ssl.ts";
import { traceroute } from "#shared/tools/traceroute.ts";

/** Every tool, in the order catalogues and docs show them. A new tool: its file, its line here, its implementation. */
export const CONTRACTS: readonly Contract[] = [
  check,
  dns,
  ssl,
  ip,
  ping,
  health,
  cookie,
  cors,
  csp,
  mixedContent,
  schema,
  ogPreview,
  traceroute,
].map((contract) => contract as unknown as Contract);
