/** Exit status of the commands: 2 wrong words or no backup, 4 wrong passphrase or master key, 5 anything else. */
export type BackupStatus = 2 | 4 | 5;

/** Why a backup is not written or not restored. The message is one line for the operator. */
export class BackupProblem extends Error {
  override readonly name = "BackupProblem";
  readonly status: BackupStatus;

  constructor(message: string, status: BackupStatus = 5) {
    super(message);
    this.status = status;
  }
}

/** The file is not a backup. */
export function notBackup(why: string): BackupProblem {
  return new BackupProblem(`the file is not a backup of Vantage: ${why}`, 2);
}

/** The file is a backup whose bytes have changed. */
export function damaged(what: string): BackupProblem {
  return new BackupProblem(`the backup is damaged: ${what}`);
}

/** The file ends before the backup does. */
export function truncated(): BackupProblem {
  return new BackupProblem("the backup is truncated: the file ends too early");
}
