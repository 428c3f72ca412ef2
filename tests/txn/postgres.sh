#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: psql python3
# soak-modes: userns
# timeout: 900
#
# A database of a real server, which the test starts on a socket of its own: a
# command changes it on a private server in its box, and a commit writes it to a
# file.  PostgreSQL refuses root: there the refusal is all.
. "$HB_TESTS/lib/txn.sh"

if [ "$(id -u)" -eq 0 ]; then
	check_exit 'root cannot hold back a database of a server' 6 \
		hb create s --cow "$project" --db postgres:///shop
	is 'the refusal leaves no session' "$(hb ls --json | grep -c '"name"')" 0
	finish
	exit
fi

for bin in /usr/lib/postgresql/*/bin; do :; done
[ -x "$bin/initdb" ] || skip_all 'no server of PostgreSQL is installed'

# A socket's path may have 107 bytes.
server=$TMPDIR/pg
mkdir -p "$server"
export PGHOST="$server" PGUSER=boss
unset PGPORT PGDATABASE DATABASE_URL

start_server() {
	"$bin/postgres" -D "$server/data" -k "$server" -c listen_addresses= -c fsync=off \
		>>"$server/log" 2>&1 &
	server_pid=$!
	wait_until psql -d postgres -c 'SELECT 1' || bail 'the server does not start'
}
stop_server() {
	kill -INT "$server_pid"
	wait "$server_pid"
}
"$bin/initdb" -N -D "$server/data" -U boss -A trust >"$server/log" 2>&1 ||
	bail "initdb: $(tail -3 "$server/log")"
start_server
ask() { psql -XAtq -d "${database:-shop}" -c "$1"; }

# The names and the content are as hostile as they can be.
createdb shop
psql -Xq -d shop <<'END' >/dev/null
CREATE ROLE "it's me";
CREATE TABLE items (id serial PRIMARY KEY, name text);
INSERT INTO items (name) SELECT 'n' || g FROM generate_series(1, 300) g;
CREATE TABLE "we""ird
ta/ble" (t int);
INSERT INTO "we""ird
ta/ble" VALUES (1);
ALTER TABLE items OWNER TO "it's me";
CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS
	'BEGIN RAISE NOTICE ''COPY items FROM stdin;''; END';
CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f();
CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.name := NEW.name || ''!''; RETURN NEW; END';
CREATE TRIGGER t BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION t();
CREATE MATERIALIZED VIEW counted AS SELECT count(*) FROM items;
END

# ---- bad words, and servers that cannot be had
for url in postgres:shop postgres://host/shop postgres:/// 'postgres:///shop?host=other' \
	'postgres:///shop?password=x' postgres:///template1 'postgres:///shop?sslmode=require'; do
	check_exit "$url is no database of a server here" 2 \
		hb create s --cow "$project" --db "$url"
done
check_exit 'two databases of servers in one session are refused' 2 \
	hb create s --cow "$project" --db postgres:///shop --db postgres:///other
check_exit 'a database that is not there is refused' 10 \
	hb create s --cow "$project" --db postgres:///nothing
check_exit 'a role that is not there is refused' 10 \
	hb create s --cow "$project" --db 'postgres:///shop?user=nobody'
ask 'CREATE ROLE weak LOGIN' 2>/dev/null
check_exit 'a role that may not read the tables is refused' 10 \
	hb create s --cow "$project" --db 'postgres:///shop?user=weak'
check_exit 'a run in memory has no database' 125 \
	"$HB_BIN" run --ephemeral --db postgres:///shop -- true
without_programs() {
	"$HB_BWRAP" --dev-bind / / --tmpfs /usr/lib/postgresql -- \
		"$HB_BIN" create --state-dir "$state" s --cow "$project" --db postgres:///shop
}
if [ -x /usr/bin/initdb ] || ! "$HB_BWRAP" --dev-bind / / --tmpfs /usr/lib/postgresql true; then
	note 'the programs of the server cannot be hidden here'
else
	check_exit 'without programs of the same version nothing begins' 6 without_programs
	like 'the refusal names the package' "$(without_programs 2>&1)" '*apt install postgresql-[0-9]*'
fi
check_exit 'a full disk is told as one' 7 sh -c 'cd "$1" && shift && exec "$@"' sh / \
	"$HB_BWRAP" --dev-bind / / --size 4000000 --tmpfs "$work" --chdir "$work" -- sh -c '
		mkdir p && exec "$0" create --state-dir "$PWD/state" s --cow p --db postgres:///shop' \
	"$HB_BIN"

# The dump waits for a lock, and the server dies meanwhile.
mkfifo "$TMPDIR/hold"
psql -Xq -d shop <"$TMPDIR/hold" >/dev/null 2>&1 &
holder=$!
exec 8>"$TMPDIR/hold"
echo 'BEGIN; LOCK TABLE items IN ACCESS EXCLUSIVE MODE;' >&8
is_locked() { [ "$(ask "SELECT count(*) FROM pg_locks WHERE granted = $1 AND relation = 'items'::regclass")" -ge "$2" ]; }
wait_until is_locked true 1
hb create s --cow "$project" --db postgres:///shop >"$TMPDIR/out" 2>&1 &
creator=$!
wait_until is_locked false 1
kill -QUIT "$server_pid"
wait "$server_pid"
wait "$creator"
is 'a server that dies in the middle of a dump fails the session' $? 10
exec 8>&-
wait "$holder"
is 'no failure leaves a session' "$(hb ls --json | grep -c '"name"')" 0
is 'no failure leaves anything of a database' "$(ls "$state/databases" 2>/dev/null)" ''
check_exit 'a server that does not run is told' 10 hb create s --cow "$project" --db postgres:///shop
start_server

# ---- a session, while another program is in the middle of a transaction
psql -Xq -d shop <"$TMPDIR/hold" >/dev/null 2>&1 &
holder=$!
exec 8>"$TMPDIR/hold"
echo "BEGIN; INSERT INTO items (name) VALUES ('uncommitted');" >&8
wait_until is_locked true 1
echo old >"$project/f"
check 'a session is made with connections open' hb create s --cow "$project" --db postgres:///shop
member() {
	hb status --json @s | python3 -c '
import json, sys
print(json.load(sys.stdin)["session"]["resources"][1][sys.argv[1]])' "$1"
}
is 'the type of the resource is postgres' "$(member type)" postgres
is 'its strategy is transaction_rollback' "$(member strategy)" transaction_rollback
is 'the command has the rows of the database' \
	"$(in_box 'psql -XAtqc "SELECT count(*) FROM items"')" 300
is 'a command that only reads has changed nothing' "$(names)" ''
is 'the variables name the private server' \
	"$(in_box 'psql -XAtq "$DATABASE_URL" -c "SELECT current_user"; echo $PGDATABASE $PGPORT $PGHOST')" \
	"boss
shop 5432 /run/holdback/server"
check_exit 'the command cannot reach the real server' 2 \
	in_box "psql -h '$server' -c 'SELECT 1'"
echo ROLLBACK >&8
exec 8>&-
wait "$holder"

cat >"$project/change" <<'END'
INSERT INTO items (name) VALUES ('new');
DROP TABLE "we""ird
ta/ble";
CREATE TABLE added (x int);
INSERT INTO added VALUES (1), (2);
END
check_exit 'the status of the command is passed on' 3 \
	in_box 'psql -Xqf change && echo new >f; exit 3'
tables() { hb diff --name-status @s | sed -n 's/^\(.\).*database.\(tables\|sequences\)/\1 \2/p' | sort | tr '\n' ,; }
is 'the change set names the tables' "$(tables)" \
	'A tables/public/added,D tables/public/we%22ird%0Ata%2Fble,M sequences/public/items_id_seq,M tables/public/items,'
like 'the text of a table has its rows' "$(hb diff --no-pager @s)" '*-rows 300*+rows 301*'
is 'the real database has not changed' "$(ask 'SELECT count(*) FROM items')" 300

# ---- commit
check_exit 'a commit needs a file for the database' 10 hb commit -y @s
check_exit 'the gate always asks about a database' 4 hb commit -y --db-file "$work/out" @s
like 'the question is the rule database' "$(hb commit -y --db-file "$work/out" @s 2>&1)" '*[[]database]*'
echo mine >"$work/taken"
check_exit 'a file that is there is not replaced' 10 \
	hb commit -y --allow database --db-file "$work/taken" @s
is 'that file is as it was' "$(cat "$work/taken")" mine
is 'nothing was committed by a refusal' "$(cat "$project/f")" old
check 'a commit writes the archive' hb commit -y --allow database --db-file "$work/out" @s
is 'the files come with it' "$(cat "$project/f")" new
is 'the real database has not changed by the commit' "$(ask 'SELECT count(*) FROM items')" 300
createdb loaded
check 'the archive can be loaded' pg_restore -d loaded "$work/out"
is 'the archive has the rows' "$(database=loaded ask 'SELECT count(*) FROM items')" 301
createdb again
check 'the statements can be loaded' psql -Xq -v ON_ERROR_STOP=1 -d again -f "$work/out.sql"
is 'the statements have the rows' "$(database=again ask 'SELECT count(*) FROM added')" 2
is 'nothing else lies beside them' "$(cd "$work" && echo *)" 'out out.sql p taken'
check 'the commit is undone' hb undo @s
like 'the database is pending again' "$(names)" '*tables/public/items,*'
is 'the files are as they were' "$(cat "$project/f")" old

# ---- the original changes meanwhile
ask "INSERT INTO items (name) VALUES ('outside')"
check_exit 'a change outside is a conflict' 5 \
	hb commit -y --allow database --db-file "$work/late" @s
is 'a conflict writes no file' "$(cd "$work" && echo *)" 'out out.sql p taken'

# ---- rollback
check 'a rollback discards the private database' hb rollback -y @s
is 'the private server has the real database of now' \
	"$(in_box 'psql -XAtqc "SELECT count(*) FROM items"')" 301
is 'nothing is pending after it' "$(names)" ''

# ---- a command that writes to the picture instead
check 'a command may write to its picture' in_box 'cd /run/holdback/database &&
	echo evil >archive && rm -r tables && echo evil >schema.sql && ln -s / link'
is 'the picture is of the database all the same' "$(names)" ''
check 'a command may make its server unusable' in_box 'kill -9 $(head -1 $PGHOST/data/postmaster.pid); rm -rf $PGHOST/data/base'
check 'other files are committed all the same' hb commit -y --except '*' @s
check 'the session can be removed' hb cleanup -y @s
is 'nothing of the database is left' "$(ls "$state/databases")" ''

# ---- run
export XDG_STATE_HOME="$TMPDIR" HOME="$TMPDIR/home"
mkdir -p "$HOME"
run() { (cd "$project" && exec "$HB_BIN" run "$@"); }
is 'run has the database' "$(run -q --db postgres:///shop -- psql -XAtqc 'SELECT count(*) FROM items')" 301
is 'a run that changes nothing leaves no session' "$("$HB_BIN" ls --json | grep -c '"name"')" 0
check 'a run that changes the database keeps it' run -q -s kept --db postgres:///shop -- \
	psql -XAtqc 'DELETE FROM items'
is 'the session has the changed database' \
	"$(run -q -s kept -- psql -XAtqc 'SELECT count(*) FROM items')" 0
check_exit 'the session has no other database' 125 run -s kept --db postgres:///postgres -- true
check 'the session of a run can be removed' "$HB_BIN" cleanup -y @kept
like 'a socket of a server is told with its meaning' \
	"$(run --socket "$server/.s.PGSQL.5432" -- true 2>&1)" \
	'*it can change the real database and, as its superuser, run programs outside*'

stop_server
rm -rf "$server" "$TMPDIR/hold" "$TMPDIR/out" "$TMPDIR/home" "$TMPDIR/holdback"
finish
