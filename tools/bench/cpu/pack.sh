#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a folder that runs stria_cpu_bench on another machine of this kind: the program, the plugin,
# the sets, the peers and every library that they need but the C and C++ ones.
#   tools/bench/cpu/pack.sh FOLDER       then there: FOLDER/run [OPTIONS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
build=build/release
folder=${1:?usage: pack.sh FOLDER}
mkdir -p "$folder/bin" "$folder/lib/stria/plugins"
cp "$build/bin/stria_cpu_bench" "$build"/bin/libstria_peer_onednn*.so "$folder/bin/"
cp -r "$build/lib/stria/plugins/llvm_cpu" "$folder/lib/stria/plugins/"
cp -r tools/bench/cpu/sets "$folder/bin/"
for blas in libopenblas.so.0 libblis.so.4; do
  found=$(ldconfig -p | awk -v name="$blas" '$1 == name { print $NF; exit }')
  if [ -n "$found" ]; then cp -L "$found" "$folder/bin/$blas"; else echo "no $blas here" >&2; fi
done
for file in "$folder"/bin/* "$folder"/lib/stria/plugins/llvm_cpu/*.so; do
  [ -f "$file" ] || continue
  { ldd "$file" 2>/dev/null || true; } | awk '$3 ~ /^\// { print $1, $3 }'
done | sort -u | while read -r name path; do
  case "$name" in libc.so.*|libm.so.*|libstdc++.so.*|libgcc_s.so.*|libpthread.so.*|libdl.so.*|librt.so.*|ld-linux*) continue ;; esac
  [ -e "$folder/bin/$name" ] || cp -L "$path" "$folder/bin/$name"
done
strip --strip-unneeded "$folder"/bin/stria_cpu_bench "$folder"/bin/*.so* \
  "$folder"/lib/stria/plugins/llvm_cpu/*.so
cat > "$folder/run" <<'RUN'
#!/usr/bin/env bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
chmod -R go-w "$here/lib"  # plugins that others may write are not loaded
LD_LIBRARY_PATH="$here/bin" exec "$here/bin/stria_cpu_bench" "$@"
RUN
chmod +x "$folder/run"
du -sh "$folder"
