#!/bin/sh
# Fetches Apache ECharts from the npm registry, verifies it, and puts the
# script with its licence texts into reporters/html/assets, where the page
# embeds them. Run it again after changing the version; commit what it wrote.
#
# go-echarts v2 emits the options of ECharts 5, so the version stays 5.x.
set -eu

version=5.6.0
sha512=a136d54ec5df2ae121c5fb47a8be71a6b80ba1cd24eee49c030b6bc8281617a84f6052d1c0e50788598718204a3f934f14d903568a4e89ec94a98187f056b790

root=$(cd "$(dirname "$0")/.." && pwd)
assets=$root/reporters/html/assets
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

cd "$work"
npm pack --silent "echarts@$version" >/dev/null
echo "$sha512  echarts-$version.tgz" | sha512sum -c - >/dev/null || {
	echo "vendor-echarts: echarts-$version.tgz is not the file that was verified" >&2
	exit 1
}
tar -xzf "echarts-$version.tgz"

mkdir -p "$assets"
install -m 0644 package/dist/echarts.min.js "$assets/echarts.min.js"
# The parts of the bundle under other licences (d3, zrender, tslib) are named
# in LICENSE or in the banners of the script itself.
install -m 0644 package/LICENSE "$assets/echarts-LICENSE"
install -m 0644 package/NOTICE "$assets/echarts-NOTICE"
install -m 0644 package/licenses/LICENSE-d3 "$assets/echarts-LICENSE-d3"
echo "$version" >"$assets/echarts-VERSION"
wc -c "$assets/echarts.min.js"
