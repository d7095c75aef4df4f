"""What an application does with the database by Python's libsql: `python client.py URL TOKEN` fails where an answer is not right."""

import sys

import libsql

url, token = sys.argv[1:]


def expect(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


def refused(work):
    try:
        work()
    except Exception as error:
        return str(error)
    raise AssertionError("nothing was refused")


db = libsql.connect(url, auth_token=token)
db.execute("DROP TABLE IF EXISTS item")
db.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, picture BLOB)")
db.commit()
expect(db.execute("INSERT INTO item (name, price, picture) VALUES (?, ?, ?)", ("bolt", 2.5, b"\x00\x01")).lastrowid, 1)
db.execute("INSERT INTO item (name) VALUES ('nut')")
db.commit()
rows = db.execute("SELECT id, name, price, picture FROM item ORDER BY id").fetchall()
expect(rows, [(1, "bolt", 2.5, b"\x00\x01"), (2, "nut", None, None)])
expect(db.execute("SELECT 9e999, -9e999, NULL, 9223372036854775807").fetchall(), [("Inf", "-Inf", None, 9223372036854775807)])
db.execute("INSERT INTO item (name) VALUES ('gone')")
db.rollback()
expect(db.execute("SELECT count(*) FROM item").fetchone(), (2,))
assert "no such column: nonsense" in refused(lambda: db.execute("SELECT nonsense FROM item").fetchall())
db.executemany("INSERT INTO item (name) VALUES (?)", [("a",), ("b",)])
db.commit()
db.executescript("CREATE TABLE IF NOT EXISTS other (a); INSERT INTO other VALUES (1); DELETE FROM other;")
expect(db.execute("SELECT count(*) FROM item").fetchone(), (4,))
db.close()
assert "access token is not valid" in refused(lambda: libsql.connect(url, auth_token="wrong").execute("SELECT 1"))
