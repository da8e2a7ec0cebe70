/**
 * The command of a clone, relative to the clone's directory. No text mentions another way to run it, because `npx` with
 * this command's name would download and run an unrelated package.
 */
export const LAUNCHER = "deploy/vantage";
