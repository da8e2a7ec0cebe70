/**
 * The command of a clone, as a person types it in the clone's directory. No text names another way to run it: `npx` with
 * this command's name would fetch and run whatever program a package registry has under it.
 */
export const LAUNCHER = "deploy/vantage";
