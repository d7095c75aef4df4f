"""What an application does with the database by SQLAlchemy's libsql: `python sqlalchemy_checks.py URL TOKEN` fails where a check does."""

import sys

from sqlalchemy import Column, Integer, String, create_engine, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import DeclarativeBase, Session

url, token = sys.argv[1:]
engine = create_engine(f"sqlite+libsql://{url.removeprefix('http://')}", connect_args={"auth_token": token})


class Base(DeclarativeBase):
    pass


class Item(Base):
    __tablename__ = "a"
    id = Column(Integer, primary_key=True)
    name = Column(String, unique=True)


failed = 0


def check(name, work):
    global failed
    try:
        work()
        print(f"passed: {name}")
    except Exception as error:
        failed = 1
        print(f"failed: {name}: {type(error).__name__}: {error}")


def same(found, expected):
    assert found == expected, f"{found!r} instead of {expected!r}"


def inserts():
    with Session(engine) as session:
        session.add(Item(id=7, name="bolt"))
        session.commit()
        item = session.execute(select(Item).where(Item.name == "bolt")).scalar_one()
        same((item.id, item.name), (7, "bolt"))
        same(session.execute(text("SELECT 9223372036854775807")).scalar_one(), 2**63 - 1)
        # The driver has no type of its own for blobs, which LargeBinary would need.
        same(session.execute(text("SELECT :blob"), {"blob": b"\x00\x01\xff"}).scalar_one(), b"\x00\x01\xff")


def rolls_back():
    with Session(engine) as session:
        session.add(Item(id=1, name="gone"))
        session.flush()
        session.rollback()
        same(session.execute(text("SELECT count(*), NULL FROM a")).one(), (1, None))


def is_told():
    try:
        with engine.begin() as connection:
            connection.execute(text("INSERT INTO a (id, name) VALUES (2, 'bolt')"))
    except (DBAPIError, ValueError) as error:
        assert "UNIQUE constraint failed: a.name" in str(error), error
    else:
        raise AssertionError("nothing was refused")


check("sqlalchemy-libsql makes tables that are not there", lambda: Base.metadata.create_all(engine))
check("sqlalchemy-libsql inserts in a transaction and selects", inserts)
check("sqlalchemy-libsql rolls back", rolls_back)
check("sqlalchemy-libsql is told what is wrong", is_told)
sys.exit(failed)
