import { expect, it } from "vitest";
import { describeBrowser, launchChromium, openContext } from "#test/browser/chromium.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createAccount, PASSWORD, startPath } from "#test/support/dashboard.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";

describeBrowser("a service below a base path", () => {
  it("signs a user in, saves a monitor, and shows its API, with requests below that path alone", async () => {
    const config = { baseUrl: "http://localhost/vantage", isBaseUrlSet: true };
    const plane = await startControlPlane({ config });
    const browser = await launchChromium();
    try {
      await attachScripted(plane, helloOf("eu-west"));
      const context = await openContext(browser, { baseURL: plane.url });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(error.message));
      const paths = new Set<string>();
      page.on("request", (request) => paths.add(new URL(request.url()).pathname));

      await page.goto(await startPath(plane, await createAccount(plane)));
      await page.getByLabel("Email").fill("owner@example.com");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Start" }).click();
      await page.waitForURL("**/vantage/app/monitors");
      const [cookie] = await context.cookies(`${plane.url}/vantage/`);
      expect(cookie).toMatchObject({ path: "/vantage" });

      await page.goto("/vantage/app/monitors/new?kind=heartbeat");
      await page.getByLabel("Name", { exact: true }).fill("Nightly");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("heading", { name: "Nightly" }).waitFor();
      const address = await page.locator("#address").textContent();
      expect(address).toContain("http://localhost/vantage/api/heartbeat/");

      await page.getByRole("banner").getByText("owner@example.com").click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.waitForURL("**/vantage/sign-in?done=signed_out");
      expect(await context.cookies(`${plane.url}/vantage/`)).not.toContainEqual(expect.objectContaining(cookie ?? {}));

      await page.goto("/vantage/docs");
      await page.getByRole("heading", { name: "Vantage", exact: true }).first().waitFor();
      expect([...paths].filter((path) => !path.startsWith("/vantage/"))).toEqual([]);
      expect([...paths]).toEqual(expect.arrayContaining(["/vantage/docs/js/scalar.js", "/vantage/docs/reading.json"]));
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
      await plane.stop();
    }
  });
});
