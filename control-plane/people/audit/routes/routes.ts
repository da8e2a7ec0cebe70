import type { Random } from "#shared/time/clock.ts";
import { createAuditExports } from "#control-plane/people/audit/export.ts";
import { registerAuditOperator } from "#control-plane/people/audit/routes/operator.ts";
import { registerAuditExport } from "#control-plane/people/audit/routes/export.ts";
import { createAuditSecrets } from "#control-plane/people/audit/secrets.ts";
import { createAuditSources, type AuditSourcesDeps } from "#control-plane/people/audit/sources.ts";
import type { Gate, Hook } from "#control-plane/http/gate.ts";
import type { createServer } from "#control-plane/http/server.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** Dependencies of the routes. */
interface AuditRoutesDeps extends AuditSourcesDeps {
  readonly random: Random;
  readonly encryption: Encryption;
  readonly gate: Gate;
  /** Hook that admits only the operator. */
  readonly admin: Hook;
}

/** Registers the audit export and the operator's routes, and adds the secrets to the accounts' data export. */
export function registerAudit(server: ReturnType<typeof createServer>, deps: AuditRoutesDeps): void {
  const { sql, accounts, keys, changes, gate, admin } = deps;
  const secrets = createAuditSecrets(deps);
  accounts.addExporter("audit_secrets", (tx, accountId) => secrets.export(tx, accountId));
  const sources = createAuditSources(deps);
  registerAuditExport(server, { gate, exports: createAuditExports({ ...deps, secrets, sources }) });
  const { record } = changes;
  registerAuditOperator(server, admin, { sql, secrets, record, accountOf: (key) => keys.accountOf(key) });
}
