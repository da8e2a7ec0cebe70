/**
 * Files that npm test leaves out and npm run test:full runs, because each takes as long as hundreds of others: they start
 * the whole product again and again, kill it, or wait for its own minutes. `npm test -- PATH` runs one of them.
 */
export const SLOW_FILES: readonly string[] = [
  "test/control-plane/watching/checking/watch/crowded.test.ts",
  "test/e2e/audit-recipes.test.ts",
  "test/e2e/bad-input-tools.test.ts",
  "test/e2e/batch-killed.test.ts",
  "test/e2e/every-tool-in-batch.test.ts",
  "test/e2e/heartbeat-pings-killed.test.ts",
  "test/e2e/heartbeat-replicas.test.ts",
  "test/e2e/heartbeat-tokens.test.ts",
  "test/e2e/heartbeat-uploads.test.ts",
  "test/e2e/lost-agents.test.ts",
  "test/e2e/mail-killed.test.ts",
  "test/e2e/measurements-killed.test.ts",
  "test/e2e/monitor-dependencies.test.ts",
  "test/e2e/odd-characters.test.ts",
  "test/e2e/racing-replicas.test.ts",
  "test/e2e/warnings.test.ts",
  "test/e2e/webhook-off.test.ts",
  "test/e2e/webhook-receivers.test.ts",
  "test/probe-agent/attachment/replicas-attached.test.ts",
  "test/probe-agent/membership/agent.test.ts",
  "test/probe-agent/membership/wrong-clock.test.ts",
  "test/shared/client/up/backup.test.ts",
  "test/shared/client/up/real.test.ts",
  "test/shared/client/up/up.test.ts",
];
