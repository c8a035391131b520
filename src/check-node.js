// Plain JavaScript without imports: it has to run on the Node that it refuses.

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `slipway: Node ${process.versions.node} is too old: Slipway needs Node 22.19 or newer. ` +
      'Install Node 24 from https://nodejs.org; in a checkout, "npm ci" installs Node 24 for the npm scripts.',
  );
  process.exit(1);
}
