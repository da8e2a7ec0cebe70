import { resolve } from "node:path";
import { checkDatabase } from "#shared/client/doctor/database.ts";
import { fail, ok, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import {
  checkChromium,
  checkClock,
  checkDescriptors,
  checkDns,
  checkRawSockets,
} from "#shared/client/doctor/machine.ts";
import { checkMail } from "#shared/client/doctor/mail.ts";
import { checkPorts, checkTransport } from "#shared/client/doctor/network.ts";
import { checkIdentity, checkMasterKeyFile } from "#shared/client/doctor/secrets.ts";
import { checkDataDirectory, checkFiles, checkValues } from "#shared/client/doctor/settings.ts";
import { readSettings, type Environment } from "#shared/settings/settings-parse.ts";
import { searchPathOf } from "#shared/process/chromium.ts";

/** The checks, in the order of the report: faults that prevent a start are first. */
const CHECKS: readonly ((patient: Patient) => Finding | Finding[] | Promise<Finding | Finding[]>)[] = [
  checkValues,
  checkFiles,
  checkDataDirectory,
  checkMasterKeyFile,
  checkIdentity,
  checkDatabase,
  checkPorts,
  checkTransport,
  checkDescriptors,
  checkRawSockets,
  checkDns,
  checkMail,
  checkClock,
  checkChromium,
];

/** Checks this machine and its settings. Calls `report` for each finding as soon as it is known; returns all of them. */
export async function examine(options: {
  readonly environment: Environment;
  readonly directory: string;
  readonly now: () => Date;
  readonly report: (finding: Finding) => void;
}): Promise<readonly Finding[]> {
  const { environment, directory, now, report } = options;
  const findings: Finding[] = [];
  const add = (finding: Finding) => {
    findings.push(finding);
    report(finding);
  };
  add(ok("node", process.versions.node));
  const read = readSettings(environment, "control-plane");
  const agent = readSettings(environment, "agent");
  for (const result of read.ok ? [agent] : [read]) if (!result.ok) add(fail("settings", result.line, "correct it"));
  if (!read.ok) return findings;
  const { settings } = read;
  const searchPath = searchPathOf(environment["PATH"]);
  const patient = {
    settings,
    directory,
    now,
    searchPath,
    dataDirectory: resolve(directory, settings.dataDir),
  };
  for (const check of CHECKS) for (const finding of [await check(patient)].flat()) add(finding);
  return findings;
}
