/**
 * Generated CI files name actions of other owners by commit, and images by digest: an owner can move a tag to other
 * code, and a job has the key that publishes. The version behind a commit is for readers, and for tools that update the
 * commit and the version together (Dependabot, Renovate).
 */

export const CHECKOUT = 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1';
export const SETUP_NODE = 'actions/setup-node@949feb2413d6458794dcd2491c4babbbce0c15c1 # v7.1.0';
export const SETUP_DOTNET =
  'actions/setup-dotnet@baa11fbfe1d6520db94683bd5c7a3818018e4309 # v5.1.0';
/** This action has no version tags, and needs the toolchain as an input. */
export const RUST_TOOLCHAIN =
  'dtolnay/rust-toolchain@3c5f7ea28cd621ae0bf5283f0e981fb97b8a7af9 # master, March 2026';
/** The digest names the index of all platforms. */
export const NODE_IMAGE =
  'node:24.18.0-bookworm@sha256:5711a0d445a1af54af9589066c646df387d1831a608226f4cd694fc59e745059';
