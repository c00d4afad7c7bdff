#!/usr/bin/env bash
# Run `make` targets from a fresh clone on a bare Debian of another release, and so on another Python.
#
#   tools/debian.sh [-s SUITE] [-d FOLDER] [-m "MAKE ARGUMENTS"] [TARGET...]
#
# SUITE is trixie (Python 3.13) by default; sid has the newest Python. FOLDER keeps the root for the next run. Needs root
# and debootstrap; the mirror is the one that this machine's apt uses, and pip's settings are those of this shell. What
# has been committed is what is run.
set -euo pipefail
suite=trixie folder="" make_arguments=""
while getopts "s:d:m:h" option; do
    case "$option" in
        s) suite="$OPTARG" ;;
        d) folder="$OPTARG" ;;
        m) make_arguments="$OPTARG" ;;
        *) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ "$#" -gt 0 ] || set -- demo test
folder="${folder:-/var/tmp/xorder-$suite}"
fail() { echo "tools/debian.sh: $1" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || fail "needs root, as it mounts and changes root; run it with sudo."
command -v debootstrap >/dev/null || fail "needs debootstrap: apt-get install debootstrap"
# Either place may be without files.
mirror="$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
    sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *([a-z]+:[^ ]*\/debian)\/?( .*|$)/\3/p' | sed -n 1p)"
[ -n "$mirror" ] || fail "apt names no mirror of Debian on this machine."
here="$(cd "$(dirname "$0")/.." && pwd)"
if [ ! -x "$folder/usr/bin/make" ]; then
    debootstrap --variant=minbase --include=python3,python3-venv,make,git,ca-certificates "$suite" "$folder" "$mirror" \
        >"$folder.log" 2>&1 || fail "no root could be made in $folder; $folder.log says why."
fi
mounted=()
release() { for place in "${mounted[@]}"; do umount -l "$place"; done; }
trap release EXIT
mount_in() { mkdir -p "$folder$2"; mount $1 "$folder$2"; mounted=("$folder$2" "${mounted[@]}"); }
mount_in "-t proc proc" /proc
mount_in "--rbind /dev" /dev
cp /etc/resolv.conf /etc/hosts "$folder/etc/"
# Certificates of a proxy that this machine trusts.
[ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp -L /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
rm -rf "$folder/xorder"
git clone --quiet "$here" "$folder/xorder"
if [ -d "$here/../shared/data" ]; then
    mkdir -p "$folder/shared/data"
    mount_in "--bind -o ro $here/../shared/data" /shared/data
fi
settings=()
while IFS= read -r line; do
    # Not those that name what is on this machine alone.
    [ "${line#*=/}" = "$line" ] || [ -e "$folder/${line#*=/}" ] || continue
    settings+=("$line")
done < <(env | grep -E '^(PIP_|SSL_CERT|REQUESTS_CA|CURL_CA|https?_proxy=|HTTPS?_PROXY=|no_proxy=|NO_PROXY=)' || true)
chroot "$folder" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 "${settings[@]}" \
    sh -c 'cd /xorder && python3 --version && for target in "$@"; do echo "== make $target" && make $0 "$target" || exit 1; done' \
    "$make_arguments" "$@"
