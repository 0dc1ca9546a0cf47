// Builds the page into the Python package, with a list of the hashes of all that it was built from.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vite";

const out = "../../src/skyloop/cockpit/page";
const sources = () => [
  "index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.mjs",
  ...readdirSync("src").map((name) => `src/${name}`),
].sort();
const hash = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

const manifest = {
  name: "manifest",
  closeBundle() {
    const made = readdirSync(out).filter((name) => name !== "manifest.json").sort();
    const told = {
      sources: Object.fromEntries(sources().map((path) => [path, hash(path)])),
      built: Object.fromEntries(made.map((name) => [name, hash(join(out, name))])),
    };
    writeFileSync(join(out, "manifest.json"), JSON.stringify(told, null, 2) + "\n");
  },
};

export default defineConfig({
  base: "./",
  build: {
    outDir: out, emptyOutDir: true, assetsDir: "", chunkSizeWarningLimit: 2000, target: "es2022",
    rollupOptions: { output: { entryFileNames: "cockpit.js", assetFileNames: "cockpit.[ext]" } },
  },
  plugins: [manifest],
});
